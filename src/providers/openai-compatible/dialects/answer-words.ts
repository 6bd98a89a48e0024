import type { AnswerWords, ChatDialect } from "./chat-dialect.ts";
import { chatDialects } from "./chat-dialects.ts";

/** Words that OpenAI-compatible servers without a dialect use: Moonshot, and proxies of Anthropic and Google. */
const otherWords: readonly AnswerWords[] = [
  { usage: "usage", cachedTokens: "prompt_tokens_details.cached_tokens" },
  { cachedTokens: "cached_tokens" },
  { finishReasons: { refusal: "content_filter", max_tokens: "length", tool_use: "tool_calls" } },
  {
    finishReasons: {
      safety: "content_filter",
      SAFETY: "content_filter",
      MODEL_ARMOR: "content_filter",
      MAX_TOKENS: "length",
    },
  },
];

const dialects: readonly ChatDialect[] = Object.values(chatDialects);
const words: readonly AnswerWords[] = [...otherWords, ...dialects.flatMap(({ answers = [] }) => answers)];

function listPlaces(field: "usage" | "cachedTokens"): readonly (readonly string[])[] {
  return words.flatMap((own) => own[field] ?? []).map((place) => place.split("."));
}

/** Where usage may be in an answer, OpenAI's place first. */
export const usagePlaces = listPlaces("usage");
/** Where cached tokens may be in usage, OpenAI's place first. */
export const cachedTokensPlaces = listPlaces("cachedTokens");

/** Vendors' finish reasons, in OpenAI's words. */
export const foreignReasons: ReadonlyMap<string, "stop" | "length" | "tool_calls" | "content_filter"> = new Map(
  words.flatMap(({ finishReasons = {} }) => Object.entries(finishReasons)),
);
