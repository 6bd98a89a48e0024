import { type ChatDialect, hints, sent } from "./chat-dialect.ts";

/** Ignores unknown fields. */
export const ollama: ChatDialect = {
  vendor: "Ollama",
  baseUrl: "http://127.0.0.1:11434/v1",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed frequency_penalty presence_penalty logprobs top_logprobs"),
    ...sent("response_format tools"),
    reasoning_effort: { only: ["none", "low", "medium", "high"] },
  },
  parts: ["image_url"],
  takesNames: false,
  answers: { finishReasons: { load: "stop", unload: "stop" } },
};
