import { asRecord, type JsonRecord } from "./json-value.ts";

/** The fields of reasoning in OpenRouter's format, which others have adopted. Only these reach a caller. */
const detailFields = ["type", "text", "summary", "data", "signature", "id", "index"] as const;

/**
 * `format` names the vendor that signed the reasoning: callers see a number, and the upstream gets its own value back.
 */
const formats: readonly (readonly [word: string, shown: string])[] = [
  ["unknown", "format-0"],
  ["anthropic-claude-v1", "format-1"],
  ["openai-responses-v1", "format-2"],
  ["google-gemini-v1", "format-3"],
  ["xai-responses-v1", "format-4"],
  ["azure-openai-responses-v1", "format-5"],
];
const shownByWord: ReadonlyMap<unknown, string> = new Map(formats);
const wordByShown: ReadonlyMap<unknown, string> = new Map(formats.map(([word, shown]) => [shown, word]));

const detailsMax = 1024;

export function sanitiseReasoningDetails(values: readonly unknown[]): object[] {
  const clean: object[] = [];
  for (const value of values.slice(0, detailsMax)) {
    const detail = asRecord(value);
    if (detail === null || typeof detail.type !== "string") continue;
    const kept: Record<string, unknown> = {};
    for (const field of detailFields) if (detail[field] !== undefined) kept[field] = detail[field];
    const format = shownByWord.get(detail.format);
    clean.push(format === undefined ? kept : { ...kept, format });
  }
  return clean;
}

/** With the upstream's own values. */
export function restoreReasoningDetails(details: readonly JsonRecord[]): JsonRecord[] {
  return details.map((detail) => {
    const word = wordByShown.get(detail.format);
    return word === undefined ? detail : { ...detail, format: word };
  });
}
