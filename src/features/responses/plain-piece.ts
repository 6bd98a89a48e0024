import { findStringEnd } from "../../providers/openai-compatible/scan-json.ts";

/** A piece that has nothing but a text of choice 0; the text is as it stands in JSON. */
export type PlainPiece = { field: "content" | "reasoning_content"; raw: string };

const forms = (["content", "reasoning_content"] as const).map((field) => ({
  field,
  prefix: `[{"index":0,"delta":{"${field}":"`,
}));
const suffixes = ['"},"finish_reason":null}]', '"},"finish_reason":null,"logprobs":null}]'];

/**
 * Reads most pieces of most answers without parsing them; `null` for all others. The choices are JSON that providers have
 * written, so a string that begins after a known beginning and ends before a known end is all that is in between.
 */
export function readPlainPiece(choices: string): PlainPiece | null {
  for (const { field, prefix } of forms) {
    if (!choices.startsWith(prefix)) continue;
    const end = findStringEnd(choices, prefix.length, choices.length);
    return end >= 0 && suffixes.includes(choices.slice(end)) ? { field, raw: choices.slice(prefix.length, end) } : null;
  }
  return null;
}
