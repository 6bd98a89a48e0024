import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

/** Hugging Face's router and its Text Generation Inference, which ignores `logit_bias` and `n`. */
export const huggingface: ChatDialect = {
  vendor: "Hugging Face",
  baseUrl: "https://router.huggingface.co/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed frequency_penalty presence_penalty logprobs top_logprobs"),
    ...sent("response_format tools reasoning_effort"),
    tool_choice: { only: functionTools },
  },
  parts: ["image_url"],
  takesNames: true,
  answers: { finishReasons: { eos_token: "stop", stop_sequence: "stop" } },
};
