import { type ChatDialect, functionTools, hints, sent } from "./chat-dialect.ts";

export const groq: ChatDialect = {
  vendor: "Groq",
  baseUrl: "https://api.groq.com/openai/v1",
  outputCapField: "max_completion_tokens",
  systemRole: "system",
  streamUsage: "asked",
  fields: {
    ...hints,
    ...sent("temperature top_p stop seed response_format tools parallel_tool_calls functions function_call user"),
    tool_choice: { only: functionTools },
    reasoning_effort: { only: ["none", "low", "medium", "high"] },
    service_tier: { only: ["auto", "default", "flex"], values: { default: "on_demand" } },
  },
  parts: ["image_url"],
  takesNames: false,
  answers: { usage: "x_groq.usage" },
};
