import { type ChatDialect, hints, sent } from "./chat-dialect.ts";

/** The compatibility API. Cohere's own API has other fields: use the kind `ai-sdk` for it. */
export const cohere: ChatDialect = {
  vendor: "Cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "unknown",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed frequency_penalty presence_penalty response_format tools"),
    reasoning_effort: { only: ["none", "high"] },
  },
  parts: ["image_url"],
  takesNames: false,
  answers: {
    finishReasons: {
      COMPLETE: "stop",
      STOP_SEQUENCE: "stop",
      TOOL_CALL: "tool_calls",
      ERROR: "length",
      TIMEOUT: "length",
      ERROR_LIMIT: "length",
      ERROR_TOXIC: "content_filter",
    },
  },
};
