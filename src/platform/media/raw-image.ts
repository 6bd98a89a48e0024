/** The first characters of images in base64: their magic bytes. */
const typesByStart: readonly (readonly [start: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

const readCharactersMax = 256;

/** The type of an image that is written in base64 without a data URL around it; `null` if it is not one. */
export function findRawImageType(text: string): string | null {
  const head = text.slice(0, readCharactersMax);
  if (!/^[A-Za-z0-9+/=\s]{16,}$/.test(head)) return null;
  return typesByStart.find(([start]) => head.startsWith(start))?.[1] ?? null;
}
