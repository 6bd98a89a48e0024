import { setImmediate as nextTurn } from "node:timers/promises";
import { createJsonScanner, type JsonLimits } from "../../platform/http/json-scanner.ts";
import type { JsonObject } from "./response-request.ts";
import type { StoredResponse } from "./response-store.ts";

/** What all items of a conversation may have together: as much as a caller's body. */
export type ItemLimits = JsonLimits & { bytesMax: number };

/** So much is parsed before others have their turn. */
const turnCharacters = 64 * 1024;

/**
 * Parses stored items, one text after another, so that no conversation holds the event loop for longer than its largest
 * text. What they add up to is sent to an upstream in one go, and is counted for that.
 */
export type ItemReader = {
  /** The item of a text. */
  readItem(text: string): Promise<JsonObject>;
  /** All items of a response: those that it was asked, and those that it answered. */
  readResponse(response: StoredResponse): Promise<JsonObject[]>;
  /** Counts a text that is sent to an upstream too. */
  count(text: string): void;
  /** Whether all that was counted is more than an upstream is sent in one go. */
  isTooMuch(): boolean;
};

export function createItemReader(limits: JsonLimits): ItemReader {
  const scanner = createJsonScanner(limits);
  let exceeded: ReturnType<typeof scanner.addText> = null;
  let characters = 0;

  async function passTurn(text: string): Promise<void> {
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
      await passTurn(text);
      return JSON.parse(text) as JsonObject;
    },
    async readResponse({ input, body }) {
      count(input);
      await passTurn(input);
      const asked = JSON.parse(input) as JsonObject[];
      await passTurn(body);
      const { output } = JSON.parse(body) as { output: JsonObject[] };
      // What else a response repeats of its request, such as tools, is not sent.
      count(JSON.stringify(output));
      return [...asked, ...output];
    },
    isTooMuch: () => exceeded !== null,
  };
}
