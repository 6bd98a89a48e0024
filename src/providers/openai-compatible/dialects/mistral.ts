import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

/** Rejects every unknown field with 422, in messages too. */
export const mistral: ChatDialect = {
  vendor: "Mistral",
  baseUrl: "https://api.mistral.ai/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "always",
  fields: {
    ...hints,
    ...sent("temperature top_p stop frequency_penalty presence_penalty n prediction"),
    ...sent("response_format tools parallel_tool_calls"),
    seed: { as: "random_seed" },
    tool_choice: { only: functionTools, values: { required: "any" } },
    reasoning_effort: { only: ["none", "high"] },
  },
  vendorFields: ["prefix"],
  parts: ["image_url"],
  takesNames: false,
  callIdLength: 9,
  needsParameters: true,
  answers: {
    cachedTokens: "num_cached_tokens",
    // `error` is a generation that broke off.
    finishReasons: { model_length: "length", error: "length" },
  },
};
