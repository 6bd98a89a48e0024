/** A picture inside a message is longer than anybody wants to read. */
const dataUrlPattern = /^(data:[\w/+.-]+;base64,).{80,}$/;

/** A request for reading, in which a word stands in the place of each picture. */
export function shortenPictures(value: unknown): unknown {
  if (typeof value === "string") return value.replace(dataUrlPattern, "$1YOUR_PICTURE");
  if (Array.isArray(value)) return value.map(shortenPictures);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortenPictures(each)]));
}
