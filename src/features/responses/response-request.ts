/** A request to create a response, validated by its schema. */
export type ResponseRequest = {
  model: string;
  input?: string | JsonObject[] | null;
  instructions?: string | null;
  previous_response_id?: string | null;
  conversation?: string | JsonObject | null;
  store?: boolean | null;
  stream?: boolean | null;
  background?: boolean | null;
  tools?: JsonObject[] | null;
  tool_choice?: "none" | "auto" | "required" | JsonObject | null;
  parallel_tool_calls?: boolean | null;
  max_tool_calls?: number | null;
  text?: { format?: JsonObject | null; verbosity?: "low" | "medium" | "high" | null } | null;
  reasoning?: ResponseReasoning | null;
  max_output_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  top_logprobs?: number | null;
  truncation?: "auto" | "disabled" | null;
  include?: string[] | null;
  metadata?: Record<string, string> | null;
  user?: string | null;
  safety_identifier?: string | null;
  service_tier?: string | null;
  prompt_cache_key?: string | null;
  prompt_cache_retention?: string | null;
  [field: string]: unknown;
};

type ResponseReasoning = {
  effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  summary?: string | null;
  generate_summary?: string | null;
  context?: string | null;
  mode?: string | null;
};

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An item of a conversation, and its place for error messages: `input[2]`, or the response that it was stored with. */
export type PlacedItem = { item: JsonObject; place: string };
