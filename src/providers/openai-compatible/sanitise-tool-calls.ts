import { createHash } from "node:crypto";
import { asRecord, type JsonRecord } from "./json-value.ts";
import type { WrittenText } from "./written-text.ts";

type Part = { written: WrittenText; isWhole: boolean };

const toolCallsMax = 1024;
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The tool calls of a message or, without `isWhole`, fragments that name their call by an index. */
export function sanitiseToolCalls(values: readonly unknown[], part: Part): object[] {
  const clean: object[] = [];
  for (const [position, value] of values.slice(0, toolCallsMax).entries()) {
    const call = asRecord(value);
    if (call !== null) clean.push(sanitiseToolCall(call, position, part));
  }
  return clean;
}

type CleanToolCall = { index?: number; id?: string; type?: "function" | "custom"; function?: object; custom?: object };

function sanitiseToolCall(call: JsonRecord, position: number, { written, isWhole }: Part): CleanToolCall {
  const clean: CleanToolCall = {};
  if (!isWhole) clean.index = readIndex(call.index, position);
  const id = readId(call.id);
  if (id !== null) clean.id = id;
  // A caller cannot answer a call without an id.
  else if (isWhole) clean.id = deriveId(`${position}${JSON.stringify(call.function ?? call.custom)}`);
  const called = asRecord(call.function);
  // Some vendors send both, one of them empty.
  const custom = readCustom(call.custom, called);
  const isCustom = call.type === "custom" || custom !== null;
  if (isWhole || call.type === "function" || call.type === "custom") clean.type = isCustom ? "custom" : "function";
  if (custom !== null) clean.custom = pickTexts(custom, ["name", "input"], written);
  if (called !== null) clean.function = sanitiseFunctionCall(called, written);
  return clean;
}

function readCustom(value: unknown, called: JsonRecord | null): JsonRecord | null {
  const custom = asRecord(value);
  return called !== null && !custom?.name && !custom?.input ? null : custom;
}

export function sanitiseFunctionCall(called: JsonRecord, written: WrittenText): object {
  // Arguments are JSON text, but some vendors send the object.
  const isText = asRecord(called.arguments) === null;
  const source = isText ? called : { ...called, arguments: JSON.stringify(called.arguments) };
  return pickTexts(source, ["name", "arguments"], written);
}

function pickTexts(source: JsonRecord, names: readonly string[], written: WrittenText): object {
  const clean: Record<string, string> = {};
  for (const name of names) {
    const text = source[name];
    if (typeof text !== "string") continue;
    clean[name] = text;
    written.text += text;
  }
  return clean;
}

function readIndex(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < toolCallsMax ? value : otherwise;
}

/** Callers send ids back and the upstream must recognise them, so usual ones stay unchanged. */
function readId(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  return idPattern.test(value) ? value : deriveId(value);
}

/** Deterministic, because fragments of one call may repeat its id. */
function deriveId(source: string): string {
  return `call_${createHash("sha256").update(source).digest("base64url").slice(0, 24)}`;
}
