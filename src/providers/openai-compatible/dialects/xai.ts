import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

export const xai: ChatDialect = {
  vendor: "xAI",
  baseUrl: "https://api.x.ai/v1",
  outputCapField: "max_completion_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed n frequency_penalty presence_penalty logprobs top_logprobs"),
    ...sent("response_format tools parallel_tool_calls user web_search_options"),
    tool_choice: { only: functionTools },
    reasoning_effort: { only: ["none", "low", "medium", "high", "xhigh"] },
  },
  parts: ["image_url"],
  takesNames: true,
};
