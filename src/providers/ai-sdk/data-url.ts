export type DataUrl = { mediaType: string; base64: string };

const head = /^data:([a-z]+\/[a-z0-9.+-]{1,100})(?:;[a-z]+=[a-z0-9._-]{1,100})?;base64,/i;
const base64 = /^[a-z0-9+/]+={0,2}$/i;

/** `null` for every other form, also for data URLs without base64. */
export function parseDataUrl(url: string): DataUrl | null {
  const [prefix, mediaType] = head.exec(url) ?? [];
  if (prefix === undefined || mediaType === undefined) return null;
  const content = url.slice(prefix.length);
  return base64.test(content) ? { mediaType: mediaType.toLowerCase(), base64: content } : null;
}
