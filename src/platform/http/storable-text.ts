import { AppError } from "../errors/app-error.ts";

/**
 * PostgreSQL holds every text but these: the character U+0000, and half of a pair that makes one character. In JSON both
 * can only be written as escapes, so that the bytes tell whether the value is worth a look.
 */
const suspects = ["\\u0000", "\\ud", "\\uD"];

/** Refuses a body with a text that could not be stored, and names the field. */
export function requireStorable(value: unknown, body: Buffer): void {
  if (!suspects.some((suspect) => body.includes(suspect))) return;
  const place = findUnstorable(value, "");
  if (place === null) return;
  const message = "has the character U+0000, or half of a character, which cannot be stored";
  throw new AppError("invalid_parameter", place === "" ? `A name ${message}.` : `\`${place}\` ${message}.`, {
    ...(place === "" ? {} : { param: place }),
  });
}

/** Refuses an address with the character U+0000 in its path or query. */
export function requireStorableUrl(url: string): void {
  if (!url.includes("%00")) return;
  const [, query = ""] = url.split("?", 2);
  const [param] = [...new URLSearchParams(query)].find(([, value]) => value.includes("\0")) ?? [];
  throw new AppError("invalid_parameter", "The address has the character U+0000, which nothing here is called.", {
    ...(param === undefined || param.includes("\0") ? {} : { param }),
  });
}

/** The path of the first such text, as validation writes it; of a name, that of the object which has it. */
function findUnstorable(value: unknown, path: string): string | null {
  if (typeof value === "string") return isStorable(value) ? null : path;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    if (!isStorable(name)) return path;
    const place = Array.isArray(value) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    const found = findUnstorable(inner, place);
    if (found !== null) return found;
  }
  return null;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
