import { findRawImageType } from "../../platform/media/raw-image.ts";

/** The fix for an image in base64 where a URL is expected, or `null` if the value may be a URL. */
export function explainRawImage(value: string): string | null {
  const type = findRawImageType(value);
  if (type === null) return null;
  return `This is base64, not a URL. Put \`data:${type};base64,\` before it to make it a data URL.`;
}
