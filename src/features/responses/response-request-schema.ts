import { type TSchema, Type } from "typebox";

/**
 * The body of a request to create a response, in OpenAI's format. Items and tools are open: `read-input.ts` and
 * `read-tools.ts` validate the types this gateway knows, and others pass to an upstream with the Responses API.
 */

const closed = { additionalProperties: false };
const text = Type.String();
const anyObject = Type.Record(Type.String(), Type.Unknown());

/** Optional; `null` means the same as absent, because SDKs send either. */
function nullable(schema: TSchema): TSchema {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const summary = Type.Enum(["auto", "concise", "detailed"]);
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const includables = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
] as const;

export const metadataSchema = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string", maxLength: 512 },
  propertyNames: { type: "string", maxLength: 64 },
  maxProperties: 16,
});

/** The example in the API reference: the smallest request instead of every field. */
const shortRequest = { model: "sandbox-chat", input: "Why is the sky blue? Answer in one sentence." };

export const responseRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200, description: "An `id` from `GET /v1/models`." }),
    input: nullable(
      Type.Union([text, Type.Array(anyObject)], {
        description: "A text, or a list of items: messages, tool calls and their outputs, reasoning, references.",
      }),
    ),
    instructions: nullable(text),
    previous_response_id: nullable(Type.String({ maxLength: 200, description: "The stored response to continue." })),
    store: nullable(
      Type.Boolean({
        description: "Whether to store the response, so that you can get or continue it. Defaults to `true`.",
      }),
    ),
    stream: nullable(Type.Boolean()),
    stream_options: nullable(Type.Object({ include_obfuscation: nullable(Type.Boolean()) }, closed)),
    background: nullable(Type.Boolean()),
    tools: nullable(Type.Array(anyObject, { maxItems: 1024 })),
    tool_choice: nullable(Type.Union([Type.Enum(["none", "auto", "required"]), anyObject])),
    parallel_tool_calls: nullable(Type.Boolean()),
    max_tool_calls: nullable(Type.Integer({ minimum: 1 })),
    text: nullable(
      Type.Object({ format: nullable(anyObject), verbosity: nullable(Type.Enum(["low", "medium", "high"])) }, closed),
    ),
    reasoning: nullable(
      Type.Object(
        {
          effort: nullable(Type.Enum([...efforts])),
          summary: nullable(summary),
          generate_summary: nullable(summary),
          context: nullable(Type.Enum(["auto", "current_turn", "all_turns"])),
          mode: nullable(text),
        },
        closed,
      ),
    ),
    max_output_tokens: nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
    truncation: nullable(Type.Enum(["auto", "disabled"])),
    include: nullable(Type.Array(Type.Enum([...includables]))),
    metadata: nullable(metadataSchema),
    user: nullable(Type.String({ maxLength: 512 })),
    safety_identifier: nullable(Type.String({ maxLength: 512 })),
    service_tier: nullable(Type.Enum(["auto", "default", "flex", "scale", "priority", "fast"])),
    prompt_cache_key: nullable(Type.String({ maxLength: 512 })),
    prompt_cache_options: nullable(anyObject),
    prompt_cache_retention: nullable(Type.Enum(["in_memory", "in-memory", "24h"])),
    moderation: nullable(anyObject),
    conversation: nullable(
      Type.Union([Type.String({ maxLength: 200 }), anyObject], {
        description: "The conversation to continue and to add this response to: its id, or an object with its `id`.",
      }),
    ),
    prompt: nullable(anyObject),
    context_management: nullable(Type.Array(anyObject)),
    access_programs: nullable(anyObject),
    image: nullable(anyObject),
    // Clients describe themselves here. Ignored.
    client_metadata: nullable(anyObject),
  },
  // Unknown fields pass if a route of the model names them.
  { additionalProperties: true, examples: [shortRequest] },
);

const { model, input, instructions, previous_response_id, conversation, tools, tool_choice } =
  responseRequestSchema.properties;
const { parallel_tool_calls, text: textOptions, reasoning, truncation } = responseRequestSchema.properties;

/** The fields of a request that count as input, and those that do not change it. */
export const countRequestSchema = Type.Object(
  {
    ...{ model: nullable(model), input, instructions, previous_response_id, conversation, tools, tool_choice },
    ...{ parallel_tool_calls, text: textOptions, reasoning, truncation },
  },
  { ...closed, examples: [shortRequest] },
);

const { prompt_cache_key, prompt_cache_options, prompt_cache_retention, service_tier } =
  responseRequestSchema.properties;

export const compactRequestSchema = Type.Object(
  {
    ...{ model, input, instructions, previous_response_id, service_tier },
    ...{ prompt_cache_key, prompt_cache_options, prompt_cache_retention },
  },
  { ...closed, examples: [shortRequest] },
);
