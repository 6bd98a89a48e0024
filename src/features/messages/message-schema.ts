import { type TSchema, Type } from "typebox";

/**
 * Bodies of Anthropic's Messages API. Content blocks and tools are open, because an Anthropic upstream may know types
 * that this gateway does not. `read-message-request.ts` validates them.
 */

function nullable(schema: TSchema): TSchema {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const open = { additionalProperties: true };
const anyObject = Type.Object({}, open);

const block = Type.Object(
  { type: Type.String({ minLength: 1 }) },
  {
    ...open,
    description:
      "User: `text`, `image`, `document`, `search_result`, `tool_result`. Assistant: `text`, `tool_use`, `thinking`, `redacted_thinking`.",
    examples: [{ type: "text", text: "Why is the sky blue?" }],
  },
);

const content = Type.Union([Type.String(), Type.Array(block)]);

const cacheControl = nullable(
  Type.Object({ type: Type.Literal("ephemeral"), ttl: nullable(Type.Enum(["5m", "1h"])) }, open),
);

const conversation = {
  model: Type.String({ minLength: 1, maxLength: 200, description: "An `id` from `GET /v1/models`." }),
  messages: Type.Array(Type.Object({ role: Type.Enum(["user", "assistant", "system"]), content }, open), {
    minItems: 1,
  }),
  system: Type.Optional(Type.Union([Type.String(), Type.Array(block)])),
  tools: Type.Optional(
    Type.Array(
      Type.Object(
        {
          type: nullable(Type.String()),
          name: Type.Optional(Type.String({ pattern: "^[a-zA-Z0-9_-]{1,128}$" })),
          description: Type.Optional(Type.String()),
          input_schema: Type.Optional(anyObject),
          strict: nullable(Type.Boolean()),
          cache_control: cacheControl,
        },
        open,
      ),
      { maxItems: 1024 },
    ),
  ),
  tool_choice: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(["auto", "any", "tool", "none"]),
        name: Type.Optional(Type.String()),
        disable_parallel_tool_use: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  ),
  thinking: nullable(
    Type.Object(
      {
        type: Type.Enum(["enabled", "adaptive", "disabled", "between_tools"]),
        budget_tokens: Type.Optional(Type.Integer({ minimum: 1024 })),
      },
      open,
    ),
  ),
  output_config: nullable(
    Type.Object(
      {
        effort: nullable(Type.Enum(["low", "medium", "high", "xhigh", "max"])),
        format: nullable(Type.Object({ type: Type.Literal("json_schema"), schema: anyObject }, open)),
      },
      open,
    ),
  ),
  cache_control: cacheControl,
};

/** The example in the API reference: the smallest request instead of every field. */
const shortRequest = {
  model: "sandbox-chat",
  max_tokens: 1024,
  messages: [{ role: "user", content: "Why is the sky blue? Answer in one sentence." }],
};

/** `readMessageRequest` rejects unknown fields later: a route may name extra ones. */
export const messageRequestSchema = Type.Object(
  {
    ...conversation,
    max_tokens: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
    stream: nullable(Type.Boolean()),
    stop_sequences: nullable(Type.Array(Type.String({ minLength: 1 }))),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: nullable(Type.Integer({ minimum: 0 })),
    metadata: nullable(Type.Object({ user_id: nullable(Type.String({ maxLength: 512 })) }, open)),
    service_tier: nullable(Type.Enum(["auto", "standard_only"])),
  },
  { ...open, examples: [shortRequest] },
);

const { max_tokens: _, ...shortConversation } = shortRequest;

export const tokenCountRequestSchema = Type.Object(conversation, { ...open, examples: [shortConversation] });

/** Anthropic's SDKs send `?beta=true` with beta features, and name them in the header. */
export const messageQuerySchema = Type.Object(
  { beta: Type.Optional(Type.Boolean({ description: "Ignored. Use the header `anthropic-beta`." })) },
  { additionalProperties: false },
);

const tokenCount = Type.Integer({ minimum: 0 });

/** Documentation only: the response is written by hand. */
export const messageAnswerSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal("message"),
    role: Type.Literal("assistant"),
    model: Type.String({ description: "The model id from the request." }),
    content: Type.Array(block, { description: "`text`, `thinking` and `tool_use` blocks." }),
    stop_reason: Type.String({ examples: ["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"] }),
    stop_sequence: Type.Union([Type.String(), Type.Null()]),
    usage: Type.Object(
      {
        input_tokens: tokenCount,
        cache_creation_input_tokens: tokenCount,
        cache_read_input_tokens: tokenCount,
        output_tokens: tokenCount,
        charge: Type.String({ description: "The cost of the call, as a decimal in the deployment's currency." }),
        cache_saving: Type.Optional(
          Type.String({ description: "How much the prompt cache saved. Absent if it saved nothing." }),
        ),
      },
      open,
    ),
    stopped_by: Type.Optional(
      Type.Literal("insufficient_balance", {
        description: "Present if the answer was cut off because the balance ran out.",
      }),
    ),
  },
  {
    ...open,
    description:
      "The message. With `stream: true` it arrives as server-sent events, from `message_start` to `message_stop`.",
  },
);

export const tokenCountSchema = Type.Object({ input_tokens: tokenCount });
