export type DataUrl = { mediaType: string; base64: string };

const head = /^data:([a-z]+\/[a-z0-9.+-]{1,100})(?:;[a-z]+=[a-z0-9._-]{1,100})?;base64,/i;
const base64 = /^[a-z0-9+/]+={0,2}$/i;
/** Only the start and the end of a long URL are checked: the vendor reads the rest. */
const seenCharacters = 1024;

/** `null` for any other URL, including data URLs without base64. */
export function parseDataUrl(url: string): DataUrl | null {
  const [prefix, mediaType] = head.exec(url) ?? [];
  if (prefix === undefined || mediaType === undefined) return null;
  const content = url.slice(prefix.length);
  const isSeen = content.length <= 2 * seenCharacters;
  const seen = isSeen ? content : content.slice(0, seenCharacters) + content.slice(-seenCharacters);
  return base64.test(seen) ? { mediaType: mediaType.toLowerCase(), base64: content } : null;
}
