/** Images in messages are long data URLs. */
const dataUrlPattern = /^(data:[\w/+.-]+;base64,).{80,}$/;

/** The request for display, with a placeholder for each image. */
export function shortenImages(value: unknown): unknown {
  if (typeof value === "string") return value.replace(dataUrlPattern, "$1YOUR_IMAGE");
  if (Array.isArray(value)) return value.map(shortenImages);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortenImages(each)]));
}
