import { AppError } from "../../platform/errors/app-error.ts";
import type { FormEntry, FormFile } from "../files/index.ts";

/** The form's file, and its other fields, which are still to be checked. */
export type TranscriptionForm = { file: FormFile; fields: Record<string, unknown> };

const lists = ["timestamp_granularities", "include"];
const numbers = ["temperature", "chunking_strategy[threshold]"];
const wholeNumbers = ["chunking_strategy[prefix_padding_ms]", "chunking_strategy[silence_duration_ms]"];

/** What a form can say only as text becomes what it means. Throws for what is no form of this endpoint. */
export function readTranscriptionForm(entries: readonly FormEntry[]): TranscriptionForm {
  const fields: Record<string, unknown> = {};
  let file: FormFile | null = null;
  for (const { name, value } of entries) {
    if (name === "file") {
      if (typeof value === "string") throw createProblem(name, "`file` must be sent as a file, with a filename.");
      if (file !== null) throw createProblem(name, "Send one file only.");
      file = value;
    } else addField(fields, name, String(value));
  }
  if (file === null) throw new AppError("missing_parameter", "`file` is required.", { param: "file" });
  return { file, fields };
}

/** Clients write a list as `name[]` once for each value, and an object as `name[key]` once for each key, or as JSON. */
function addField(fields: Record<string, unknown>, name: string, text: string): void {
  const [, outer = name, inner] = /^([a-z_]+)\[([a-z_]*)\]$/.exec(name) ?? [];
  const known = Object.hasOwn(fields, outer) ? fields[outer] : undefined;
  if (lists.includes(outer) && (inner === undefined || inner === "")) {
    fields[outer] = [...(Array.isArray(known) ? known : []), text];
    return;
  }
  if (
    inner !== undefined &&
    inner !== "" &&
    (known === undefined || isObject(known)) &&
    !Object.hasOwn(known ?? {}, inner)
  ) {
    fields[outer] = { ...known, [inner]: readValue(name, text) };
    return;
  }
  if (known !== undefined) throw createProblem(outer, `Send \`${outer}\` once only.`);
  fields[name] = readValue(name, text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readValue(name: string, text: string): unknown {
  if (name === "stream" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (numbers.includes(name) && /^-?\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text);
  if (wholeNumbers.includes(name) && /^-?\d{1,9}$/.test(text)) return Number(text);
  return name === "chunking_strategy" && text.startsWith("{") ? parseObject(text) : text;
}

/** What is no JSON stays a text, which the schema does not take. */
function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function createProblem(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}

/** What makes two forms the same request: what is in them, not what lies between their parts. */
export function describeTranscriptionForm({ fields, file }: TranscriptionForm): Buffer {
  const named = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return Buffer.from(JSON.stringify([named, file.filename, file.spooled.sha256.toString("hex")]));
}
