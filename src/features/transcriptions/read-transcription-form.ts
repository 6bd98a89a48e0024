import { AppError } from "../../platform/errors/app-error.ts";
import type { FormEntry, FormFile } from "../files/index.ts";

/** The file of a form, and its other fields before validation. */
export type TranscriptionForm = { file: FormFile; fields: Record<string, unknown> };

const lists = ["timestamp_granularities", "include"];
const numbers = ["temperature", "chunking_strategy[threshold]"];
const wholeNumbers = ["chunking_strategy[prefix_padding_ms]", "chunking_strategy[silence_duration_ms]"];

/** Converts text fields to numbers, booleans, lists and objects. Throws if the form has no file, or a field twice. */
export function readTranscriptionForm(entries: readonly FormEntry[]): TranscriptionForm {
  const fields: Record<string, unknown> = {};
  let file: FormFile | null = null;
  for (const { name, value } of entries) {
    if (name === "file") {
      if (typeof value === "string") throw createProblem(name, "`file` must be sent as a file, with a filename.");
      if (file !== null) throw createProblem(name, "Send only one file.");
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
  if (known !== undefined) throw createProblem(outer, `Send \`${outer}\` only once.`);
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

/** Invalid JSON stays a string, which the schema rejects. */
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

/** What identifies a request for its `Idempotency-Key`: the contents of the form, not its boundaries or field order. */
export function describeTranscriptionForm({ fields, file }: TranscriptionForm): Buffer {
  const named = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return Buffer.from(JSON.stringify([named, file.filename, file.spooled.sha256.toString("hex")]));
}
