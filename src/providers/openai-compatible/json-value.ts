import { countInnerStructure } from "../../platform/http/json-scanner.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonRecord | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : null;
}

/** A shorter text cannot hold the event loop for more than 10 ms, whatever is in it. */
const shortCharacters = 64 * 1024;
/** As many `{`, `[`, `:` and `,` as a caller's body may have by default. */
const structureMaxStandard = 80_000;
/** For lists of numbers and words that a caller asked for: log probabilities, timestamps. Flat, it parses in 50 ms. */
export const listStructureMax = 400_000;

/** `undefined` for what is no JSON, and for what has too much structure to be parsed in one go. */
export function parseJson(text: string, structureMax = structureMaxStandard): unknown {
  if (text.length > shortCharacters && countInnerStructure(text, structureMax) > structureMax) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
