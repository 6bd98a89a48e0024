import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonLimits } from "../../lib/json-cursor.ts";
import { createJsonScanner } from "../../platform/http/json-scanner.ts";
import type { JsonObject } from "./response-request.ts";
import type { StoredResponse } from "./response-store.ts";

/** The limits of a whole conversation: as large as a request body. */
export type ItemLimits = JsonLimits & { bytesMax: number };

/** Yield to the event loop after parsing this much. */
const turnCharacters = 64 * 1024;

/**
 * Parses stored items one text at a time, so that a conversation blocks the event loop no longer than its largest text.
 * Counts the total, because it is sent to an upstream in one request.
 */
export type ItemReader = {
  /** Parses one item. */
  readItem(text: string): Promise<JsonObject>;
  /** Parses all items of a response: its input and its output. */
  readResponse(response: StoredResponse): Promise<JsonObject[]>;
  /** Counts a text that is also sent to an upstream. */
  count(text: string): void;
  /** Whether the total exceeds the limits. */
  isTooMuch(): boolean;
};

export function createItemReader(limits: JsonLimits): ItemReader {
  const scanner = createJsonScanner(limits);
  let exceeded: ReturnType<typeof scanner.addText> = null;
  let characters = 0;

  async function yieldAfter(text: string): Promise<void> {
    characters += text.length;
    if (characters < turnCharacters) return;
    characters = 0;
    await nextTurn();
  }

  function count(text: string): void {
    exceeded ??= scanner.addText(text);
  }

  return {
    count,
    async readItem(text) {
      count(text);
      await yieldAfter(text);
      return JSON.parse(text) as JsonObject;
    },
    async readResponse({ input, body }) {
      count(input);
      await yieldAfter(input);
      const asked = JSON.parse(input) as JsonObject[];
      await yieldAfter(body);
      const { output } = JSON.parse(body) as { output: JsonObject[] };
      // Only the output is sent, not the tools and options that a response echoes.
      count(JSON.stringify(output));
      return [...asked, ...output];
    },
    isTooMuch: () => exceeded !== null,
  };
}
