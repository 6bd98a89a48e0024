import type { ChatUsage } from "../contract.ts";
import { asRecord, parseJson } from "./json-value.ts";
import { readReportedUsage } from "./read-usage.ts";
import { type CleanChunkChoice, sanitiseChunkChoice } from "./sanitise-choice.ts";
import type { WrittenText } from "./written-text.ts";

export type CleanChoices = WrittenText & { choices: readonly CleanChunkChoice[] };

export type ReadChunk =
  | (CleanChoices & { kind: "chunk"; usage: ChatUsage | null })
  /** An error in place of a chunk. */
  | { kind: "error"; body: unknown }
  | { kind: "malformed" };

/** The slow path: parses a chunk completely and keeps only known fields. */
export function readChunk(data: string): ReadChunk {
  const body = parseJson(data);
  const chunk = asRecord(body);
  if (chunk === null) return { kind: "malformed" };
  if (chunk.error !== undefined && chunk.error !== null) return { kind: "error", body };
  return { kind: "chunk", ...readChoices(chunk.choices), usage: readReportedUsage(chunk) };
}

export function readChoices(values: unknown): CleanChoices {
  const written: WrittenText = { text: "" };
  const choices: CleanChunkChoice[] = [];
  if (Array.isArray(values)) {
    for (const value of values) {
      const choice = sanitiseChunkChoice(value, written);
      if (choice !== null) choices.push(choice);
    }
  }
  return { choices, ...written };
}
