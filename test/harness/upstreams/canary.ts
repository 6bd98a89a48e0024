/**
 * A word inside every id, model name, header, error and address that a fake upstream sends. If a customer sees it, that
 * is a leak. Only values that customers must send back (ids of tool calls, signatures of thoughts) and the answer's
 * text are free of it.
 */
export const canary = "canaryvendor";

/** How many nested encodings are decoded; deeper ones are out of scope. */
const layersMax = 2;
const excerptChars = 40;

/**
 * Searches for the canary in plain text, in capitals, percent-encoded, escaped as in JSON or HTML, in base64 and in
 * hex. Returns the text around it, or `null`.
 */
export function findCanary(value: unknown): string | null {
  return search(flatten(value, new Set()), 0);
}

function search(text: string, layer: number): string | null {
  const foundAt = text.toLowerCase().indexOf(canary);
  if (foundAt !== -1) return text.slice(Math.max(0, foundAt - excerptChars), foundAt + canary.length + excerptChars);
  if (layer === layersMax) return null;
  for (const decoded of listDecoded(text)) {
    const found = search(decoded, layer + 1);
    if (found !== null) return found;
  }
  return null;
}

function listDecoded(text: string): string[] {
  const unescaped = undoEscapes(text);
  // The encoded part may start inside a longer word, so every alignment is tried.
  const fromBase64 = (text.match(/[\w+/-]{16,}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((offset) => Buffer.from(run.slice(offset), "base64").toString("latin1")),
  );
  const fromHex = (text.match(/[\da-f]{24,}/gi) ?? []).flatMap((run) =>
    [0, 1].map((offset) => Buffer.from(run.slice(offset), "hex").toString("latin1")),
  );
  return [...(unescaped === text ? [] : [unescaped]), ...fromBase64, ...fromHex];
}

function undoEscapes(text: string): string {
  return text
    .replaceAll(/%([\da-f]{2})|\\x([\da-f]{2})|&#x([\da-f]{2,4});/gi, (_whole, ...codes: unknown[]) => readHex(codes))
    .replaceAll(/\\u([\da-f]{4})/gi, (_whole, ...codes: unknown[]) => readHex(codes))
    .replaceAll(/&#(\d{2,4});/g, (_whole, code: string) => String.fromCharCode(Number(code)));
}

function readHex(codes: readonly unknown[]): string {
  const code = codes.find((candidate) => typeof candidate === "string");
  return String.fromCharCode(Number.parseInt(String(code), 16));
}

/** All texts inside any value, including keys. */
function flatten(value: unknown, seen: Set<object>): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array)
    return `${Buffer.from(value).toString("utf8")}\n${Buffer.from(value).toString("latin1")}`;
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.has(value)) return "";
  seen.add(value);
  const inside = isIterable(value) ? [...value] : Object.entries(value);
  // An error's message is not enumerable.
  const hidden = value instanceof Error ? [value.name, value.message, value.stack, value.cause] : [];
  return [...inside, ...hidden].map((part) => flatten(part, seen)).join("\n");
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}
