import { countInnerStructure } from "../../platform/http/json-scanner.ts";

export type JsonRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonRecord | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : null;
}

/** A shorter text cannot block the event loop for more than 10 ms. */
const shortCharacters = 64 * 1024;
/** As many `{`, `[`, `:` and `,` as a request body may have by default. */
const structureMaxStandard = 80_000;
/** For requested lists of numbers and words: log probabilities, timestamps. Flat, it parses in 50 ms. */
export const listStructureMax = 400_000;

/** `undefined` if it is not JSON, or has too much structure to parse at once. */
export function parseJson(text: string, structureMax = structureMaxStandard): unknown {
  if (text.length > shortCharacters && countInnerStructure(text, structureMax) > structureMax) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
