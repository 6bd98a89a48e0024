import { AppError } from "../../platform/errors/app-error.ts";
import { countInnerStructure, innerStructureMax } from "../../platform/http/json-scanner.ts";
import { requireStorable } from "../../platform/http/storable-text.ts";

/**
 * Parses a document that was sent as text, such as a saved and edited file, so that it is validated like any other. A
 * story that happens to start with a brace stays a text.
 */
export function openDocument(body: unknown): void {
  const fields = body as { script?: unknown } | null | undefined;
  const text = fields?.script;
  if (!fields || typeof text !== "string" || !/^\s*\{/.test(text)) return;
  if (countInnerStructure(text) > innerStructureMax) {
    const message = `The document has more than ${innerStructureMax} of the characters \`{\`, \`[\`, \`:\` and \`,\`.`;
    throw new AppError("payload_too_large", message, { param: "script" });
  }
  const value = parseJson(text);
  if (!isMarked(value)) return;
  requireStorable({ script: value });
  fields.script = value;
}

/** `null` if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isMarked(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "object")) return false;
  const { object } = value as { object: unknown };
  return typeof object === "string" && object.startsWith("drama.");
}
