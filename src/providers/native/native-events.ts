import type { ChatPiece } from "../contract.ts";
import type { JsonRecord } from "../openai-compatible/json-value.ts";

/** A piece of an unfinished native answer. Its choices are empty for the meter. */
export function createUnfinishedPiece(text: string, nativeEvents: string): ChatPiece {
  return { choices: "[]", text, isUnfinished: true, nativeEvents };
}

/** An unfinished piece with content that need not be text. */
export function createContentPiece(text: string, nativeEvents: string): ChatPiece {
  return { choices: "[]", text, isContent: true, isUnfinished: true, nativeEvents };
}

/** The piece in which the only choice of a native answer ends. */
export function createFinalPiece(finishReason: string, nativeEvents: string): ChatPiece {
  return { choices: `[{"index":0,"delta":{},"finish_reason":"${finishReason}"}]`, text: "", nativeEvents };
}

/** The choices of a complete native answer, as far as the meter reads them. */
export function presentMeteredChoice(finishReason: string): string {
  return `[{"index":0,"message":{"role":"assistant"},"finish_reason":"${finishReason}"}]`;
}

/** An event in the wire format. A line break inside the data would end its line. */
export function formatEvent(type: string, data: string): string {
  return `event: ${type}\ndata: ${data.includes("\n") ? JSON.stringify(JSON.parse(data)) : data}\n\n`;
}

const typePattern = /^[a-z_.]{1,64}$/;

/** Whether it looks like an event type, known or not. */
export function isEventType(type: unknown): type is string {
  return typeof type === "string" && typePattern.test(type);
}

/** The event's text as received, or without the unknown fields. */
export function keepKnownFields(event: JsonRecord, known: ReadonlySet<string>, data: string): string {
  for (const field in event) {
    if (!known.has(field)) {
      return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([name]) => known.has(name))));
    }
  }
  return data;
}

/** The named fields of a record. */
export function pick(record: JsonRecord, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (record[name] !== undefined) picked[name] = record[name];
  return picked;
}

/** Only the counts of a vendor's usage, not its names and texts. */
export function pickCounts(record: JsonRecord | null, names: readonly string[]): Record<string, number | null> | null {
  if (record === null) return null;
  const picked: Record<string, number | null> = {};
  for (const name of names) {
    const count = record[name];
    if (count === null || (typeof count === "number" && Number.isSafeInteger(count) && count >= 0))
      picked[name] = count;
  }
  return picked;
}
