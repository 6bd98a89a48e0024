import { isUnstorableText } from "../database/database.ts";
import { AppError } from "../errors/app-error.ts";

/**
 * PostgreSQL cannot store U+0000 and lone surrogates. JSON can contain both only as escapes, so a byte search decides
 * whether the parsed value must be checked.
 */
const suspects = ["\\u0000", "\\ud", "\\uD"];

/** Rejects a body with text that PostgreSQL cannot store, and names the field. */
export function requireStorable(value: unknown, body?: Buffer): void {
  if (body !== undefined && !suspects.some((suspect) => body.includes(suspect))) return;
  const place = findUnstorable(value);
  if (place === null) return;
  throw createUnstorable(place === "" ? "body" : place);
}

/** Rejects a query with U+0000. In paths, the id patterns exclude it. */
export function requireStorableQuery(url: string): void {
  if (!url.includes("%00")) return;
  const query = new URLSearchParams(url.split("?", 2)[1]);
  for (const [name, value] of query) {
    if (!isStorable(name)) throw createUnstorable("query");
    if (!isStorable(value)) throw createUnstorable(name);
  }
}

/** Finds the field that PostgreSQL refused to store, for routes without the check; `null` if it is not in the body. */
export function explainUnstorable(error: unknown, body: unknown): AppError | null {
  if (!isUnstorableText(error)) return null;
  const place = findUnstorable(body);
  return place === null ? null : createUnstorable(place === "" ? "body" : place);
}

function createUnstorable(param: string): AppError {
  const message = `\`${param}\` contains U+0000 or a lone surrogate. Remove it.`;
  return new AppError("invalid_parameter", message, { param });
}

/**
 * The path of the first such text, in the form of validation errors; for a name, the path of its object. Iterative: the
 * body is not validated yet and may be deeply nested.
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
