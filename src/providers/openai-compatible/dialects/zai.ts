import { type ChatDialect, hints, sent } from "./chat-dialect.ts";

export const zai: ChatDialect = {
  vendor: "Z.ai",
  baseUrl: "https://api.z.ai/api/paas/v4",
  outputCapField: "max_tokens",
  systemRole: "system",
  streamUsage: "always",
  fields: {
    ...hints,
    ...sent("temperature top_p tools"),
    stop: { listMax: 1 },
    response_format: { only: ["text", "json_object"] },
    tool_choice: { only: ["auto"] },
    reasoning_effort: { instead: { none: { thinking: { type: "disabled" } } } },
  },
  parts: ["image_url"],
  takesNames: false,
  answers: {
    // `network_error` is a generation that broke off.
    finishReasons: { sensitive: "content_filter", network_error: "length", model_context_window_exceeded: "length" },
  },
};
