import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

/** Ignores unknown fields with a line in its own log. */
export const vllm: ChatDialect = {
  vendor: "vLLM",
  baseUrl: "http://127.0.0.1:8000/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed n frequency_penalty presence_penalty logit_bias logprobs top_logprobs"),
    ...sent("response_format tools parallel_tool_calls user"),
    tool_choice: { only: functionTools },
    reasoning_effort: { only: ["none", "low", "medium", "high"] },
  },
  vendorFields: ["top_k", "min_p"],
  parts: ["image_url", "input_audio"],
  takesNames: true,
  answers: { finishReasons: { abort: "length" } },
};
