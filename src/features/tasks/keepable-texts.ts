import { AppError } from "../../platform/errors/app-error.ts";

/** Signs that no database keeps and no vendor means: the end of a text in C, and halves of characters. */
export function requireKeepableTexts(value: unknown, path = ""): void {
  if (typeof value === "string") {
    if (value.isWellFormed() && !value.includes("\0")) return;
    throw new AppError("invalid_parameter", `\`${path}\` has characters that are none: U+0000, or half of a pair.`, {
      param: path,
    });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    requireKeepableTexts(name, path === "" ? "body" : path);
    requireKeepableTexts(item, place);
  }
}
