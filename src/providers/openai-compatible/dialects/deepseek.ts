import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

export const deepseek: ChatDialect = {
  vendor: "DeepSeek",
  baseUrl: "https://api.deepseek.com/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop frequency_penalty presence_penalty logprobs top_logprobs tools"),
    response_format: { only: ["text", "json_object"] },
    tool_choice: { only: functionTools },
    reasoning_effort: { instead: { none: { thinking: { type: "disabled" } } } },
  },
  parts: [],
  takesNames: true,
  answers: {
    cachedTokens: "prompt_cache_hit_tokens",
    // A generation that broke off.
    finishReasons: { insufficient_system_resource: "length" },
  },
};
