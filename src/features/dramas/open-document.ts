import { AppError } from "../../platform/errors/app-error.ts";
import { countInnerStructure, innerStructureMax } from "../../platform/http/json-scanner.ts";
import { requireStorable } from "../../platform/http/storable-text.ts";

/**
 * Puts a document that was sent as text, as of a file that somebody saved and changed, in place as what it is, so that it
 * is checked like any other. A story that happens to begin with a brace stays a story.
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

/** `null` for what is no JSON, and so no document. */
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
