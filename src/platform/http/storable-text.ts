import { isUnstorableText } from "../database/database.ts";
import { AppError } from "../errors/app-error.ts";

/**
 * PostgreSQL holds every text but these: the character U+0000, and half of a pair that makes one character. In JSON both
 * can only be written as escapes, so that the bytes tell whether the value is worth a look.
 */
const suspects = ["\\u0000", "\\ud", "\\uD"];

/** Refuses a body with a text that could not be stored, and names the field. Its bytes may show that it has none. */
export function requireStorable(value: unknown, body?: Buffer): void {
  if (body !== undefined && !suspects.some((suspect) => body.includes(suspect))) return;
  const place = findUnstorable(value);
  if (place === null) return;
  throw createUnstorable(place === "" ? "body" : place);
}

/** Refuses a query with U+0000 in it. In a path it is no id: no kind of them has it. */
export function requireStorableQuery(url: string): void {
  if (!url.includes("%00")) return;
  const query = new URLSearchParams(url.split("?", 2)[1]);
  for (const [name, value] of query) {
    if (!isStorable(name)) throw createUnstorable("query");
    if (!isStorable(value)) throw createUnstorable(name);
  }
}

/** What of a request PostgreSQL refused to store, where a route let it pass; `null` where it is nothing of the request. */
export function explainUnstorable(error: unknown, body: unknown): AppError | null {
  if (!isUnstorableText(error)) return null;
  const place = findUnstorable(body);
  return place === null ? null : createUnstorable(place === "" ? "body" : place);
}

function createUnstorable(param: string): AppError {
  const message = `\`${param}\` has characters that are none: U+0000, or half of a pair.`;
  return new AppError("invalid_parameter", message, { param });
}

/**
 * The path of the first such text, as validation writes it; of a name, that of the object which has it. However deep it is
 * nested: it has not been checked yet.
 */
function findUnstorable(root: unknown): string | null {
  const waiting: { value: unknown; path: string }[] = [{ value: root, path: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && !isStorable(value)) return path;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries(value).reverse()) {
      if (!isStorable(name)) return path;
      const place = Array.isArray(value) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      waiting.push({ value: inner, path: place });
    }
  }
  return null;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
