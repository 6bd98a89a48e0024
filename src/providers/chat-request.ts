/** A chat request in OpenAI's format. Validated: it is well-formed, and unknown fields were rejected. */
export type ChatRequest = {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean; include_obfuscation?: boolean } | null;
  tools?: ChatTool[];
  tool_choice?: ChatToolChoice;
  parallel_tool_calls?: boolean;
  response_format?: ChatResponseFormat;
  n?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  stop?: string | string[] | null;
  temperature?: number | null;
  top_p?: number | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  logit_bias?: Record<string, number> | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  seed?: number | null;
  reasoning_effort?: ReasoningEffort | null;
  verbosity?: "low" | "medium" | "high" | null;
  /** Other known fields, forwarded unchanged if the model's catalog entry allows them. */
  [field: string]: unknown;
};

export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export type ChatMessage =
  | ({ role: "system" | "developer"; content: string | ChatTextPart[]; name?: string } & CacheMark)
  | ({ role: "user"; content: string | ChatUserPart[]; name?: string } & CacheMark)
  | ({
      role: "assistant";
      content?: string | (ChatTextPart | ({ type: "refusal"; refusal: string } & CacheMark))[] | null;
      refusal?: string | null;
      tool_calls?: ChatToolCall[];
      name?: string;
      audio?: { id: string } | null;
      /** Reasoning of an earlier answer, sent back to the model. */
      reasoning_content?: string | null;
      /** The same under another name. */
      reasoning?: string;
      /** The same in parts, with the vendor's signatures. */
      reasoning_details?: Record<string, unknown>[];
      /** On the last message: the answer continues it. Only upstreams that support this get the request. */
      prefix?: boolean;
    } & CacheMark)
  | ({ role: "tool"; content: string | ChatTextPart[]; tool_call_id: string; name?: string } & CacheMark)
  /** OpenAI's deprecated predecessor of tool messages. */
  | { role: "function"; name: string; content?: string | null };

/** Where a vendor may cache the prompt, in Anthropic's format. */
export type CacheMark = { cache_control?: Record<string, unknown> };

type ChatTextPart = { type: "text"; text: string } & CacheMark;

export type ChatUserPart =
  | ChatTextPart
  | ({ type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" | "original" } } & CacheMark)
  | ({ type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } } & CacheMark)
  | ({ type: "file"; file: { file_data?: string; file_id?: string; filename?: string } } & CacheMark);

/** Fields of messages, parts and tools outside OpenAI's API: each upstream gets those it knows. */
export const echoedFields = ["reasoning", "reasoning_content", "reasoning_details", "cache_control", "prefix"] as const;

type ChatToolCall =
  | { id: string; type: "function"; function: { name: string; arguments: string } }
  | { id: string; type: "custom"; custom: { name: string; input: string } };

export type ChatTool = CacheMark & ChatToolForm;

export function nameTool(tool: ChatTool): string {
  return tool.type === "function" ? tool.function.name : tool.custom.name;
}

type ChatToolForm =
  | {
      type: "function";
      function: {
        name: string;
        description?: string;
        parameters?: Record<string, unknown>;
        strict?: boolean | null;
      };
    }
  | { type: "custom"; custom: { name: string; description?: string; format?: Record<string, unknown> } };

type ChatToolChoice =
  | "none"
  | "auto"
  | "required"
  | { type: "function"; function: { name: string } }
  | { type: "custom"; custom: { name: string } }
  | { type: "allowed_tools"; allowed_tools: { mode: "auto" | "required"; tools: Record<string, unknown>[] } };

type ChatResponseFormat =
  | { type: "text" }
  | { type: "json_object" }
  | {
      type: "json_schema";
      json_schema: { name: string; description?: string; schema?: Record<string, unknown>; strict?: boolean | null };
    };

/** The fields of OpenAI's chat API. */
export const openAiChatFields: ReadonlySet<string> = new Set(
  (
    "model messages stream stream_options tools tool_choice parallel_tool_calls response_format n max_tokens " +
    "max_completion_tokens stop temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs " +
    "seed reasoning_effort verbosity audio function_call functions metadata modalities moderation prediction " +
    "prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier store user " +
    "web_search_options"
  ).split(" "),
);

/** Values of optional fields that ask for the default. Client libraries send them unasked. */
const neutralValues: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["frequency_penalty", (value) => value === 0],
  ["logit_bias", (value) => typeof value === "object" && value !== null && Object.keys(value).length === 0],
  ["logprobs", (value) => value === false],
  ["modalities", (value) => Array.isArray(value) && value.every((modality) => modality === "text")],
  ["n", (value) => value === 1],
  ["parallel_tool_calls", (value) => value === true],
  ["presence_penalty", (value) => value === 0],
  ["service_tier", (value) => value === "auto" || value === "default"],
  ["store", (value) => value === false],
  ["stream", (value) => value === false],
  ["tool_choice", (value) => value === "auto"],
  ["top_logprobs", (value) => value === 0],
  ["verbosity", (value) => value === "medium"],
]);

/** Whether a request without the field would ask for the same. */
export function isNeutral(field: string, value: unknown): boolean {
  return value === undefined || value === null || neutralValues.get(field)?.(value) === true;
}
