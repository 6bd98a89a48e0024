import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

export const openrouter: ChatDialect = {
  vendor: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  outputCapField: "max_tokens",
  systemRole: "as-sent",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed frequency_penalty presence_penalty logit_bias logprobs top_logprobs"),
    ...sent("response_format tools parallel_tool_calls reasoning_effort verbosity user prediction prompt_cache_key"),
    ...sent("modalities audio web_search_options"),
    tool_choice: { only: functionTools },
  },
  vendorFields: ["top_k", "min_p"],
  // Otherwise hosts that do not know a field are chosen too, and ignore it.
  constants: { provider: { require_parameters: true } },
  parts: ["image_url", "input_audio", "file"],
  takesNames: true,
};
