import type { ChatPiece } from "../contract.ts";
import type { JsonRecord } from "../openai-compatible/json-value.ts";

/** A piece of a native answer that goes on: its choices tell the meter nothing. */
export function createGoingOn(text: string, nativeEvents: string): ChatPiece {
  return { choices: "[]", text, isGoingOn: true, nativeEvents };
}

/** A piece that goes on with content that need not be text. */
export function createContent(text: string, nativeEvents: string): ChatPiece {
  return { choices: "[]", text, isContent: true, isGoingOn: true, nativeEvents };
}

/** The piece in which the one choice of a native answer ends. */
export function createEnding(finishReason: string, nativeEvents: string): ChatPiece {
  return { choices: `[{"index":0,"delta":{},"finish_reason":"${finishReason}"}]`, text: "", nativeEvents };
}

/** The choices of a whole native answer, as far as the meter looks at them. */
export function presentMeteredChoice(finishReason: string): string {
  return `[{"index":0,"message":{"role":"assistant"},"finish_reason":"${finishReason}"}]`;
}

/** An event as it stands on the wire. A line end inside the data would end its line. */
export function formatEvent(type: string, data: string): string {
  return `event: ${type}\ndata: ${data.includes("\n") ? JSON.stringify(JSON.parse(data)) : data}\n\n`;
}

const typePattern = /^[a-z_.]{1,64}$/;

/** Whether it has the form of an event's type, known or not. */
export function isEventType(type: unknown): type is string {
  return typeof type === "string" && typePattern.test(type);
}

/** The text of an event as it came, or without the fields that are not known. */
export function keepKnownFields(event: JsonRecord, known: ReadonlySet<string>, data: string): string {
  for (const field in event) {
    if (!known.has(field)) {
      return JSON.stringify(Object.fromEntries(Object.entries(event).filter(([name]) => known.has(name))));
    }
  }
  return data;
}

/** Those fields of a record that have a name of the list. */
export function pick(record: JsonRecord, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (record[name] !== undefined) picked[name] = record[name];
  return picked;
}

/** Counts alone: names and other words of a vendor's usage are its own. */
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
