import { Type } from "typebox";

const tokenCount = Type.Integer({ minimum: 0 });
const anyObject = Type.Record(Type.String(), Type.Unknown());
const nullable = (schema: ReturnType<typeof Type.Object>) => Type.Union([schema, Type.Null()]);

/** Documentation only: the response is written by hand. */
export const responseSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("response"),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    completed_at: Type.Union([Type.Integer(), Type.Null()]),
    status: Type.Enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
    model: Type.String({ description: "The model id from the request." }),
    output: Type.Array(anyObject, { description: "Messages, tool calls and reasoning, in order." }),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() }, { additionalProperties: true })),
    incomplete_details: nullable(
      Type.Object({ reason: Type.Optional(Type.Enum(["max_output_tokens", "content_filter"])) }),
    ),
    store: Type.Boolean({ description: "Whether the response is stored." }),
    usage: nullable(
      Type.Object({
        input_tokens: tokenCount,
        input_tokens_details: Type.Object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }),
        output_tokens: tokenCount,
        output_tokens_details: Type.Object({ reasoning_tokens: tokenCount }),
        total_tokens: tokenCount,
        charge: Type.String({ description: "The cost of the call, as a decimal in the deployment's currency." }),
        cache_saving: Type.Optional(
          Type.String({ description: "How much the prompt cache saved. Absent if it saved nothing." }),
        ),
      }),
    ),
    stopped_by: Type.Optional(
      Type.Literal("insufficient_balance", {
        description: "Present if the answer was cut off because the balance ran out.",
      }),
    ),
  },
  {
    additionalProperties: true,
    description: "The response, with the options of its request. With `stream: true` it arrives as events.",
  },
);

const include = Type.Optional(Type.Array(Type.String(), { description: "Ignored: everything is always included." }));
const includeFields = { include, "include[]": include };

export const responseQuerySchema = Type.Object(
  {
    stream: Type.Optional(Type.Boolean()),
    starting_after: Type.Optional(
      Type.Integer({ minimum: 0, description: "The sequence number of the last event you received." }),
    ),
    include_obfuscation: Type.Optional(Type.Boolean()),
    ...includeFields,
  },
  { additionalProperties: false },
);

export const inputItemQuerySchema = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    order: Type.Optional(Type.Enum(["asc", "desc"])),
    after: Type.Optional(Type.String({ maxLength: 200, description: "The `last_id` of the previous page." })),
    ...includeFields,
  },
  { additionalProperties: false },
);

export const inputItemListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(anyObject),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

export const deletedResponseSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("response"),
  deleted: Type.Literal(true),
});

export const inputTokensSchema = Type.Object({
  object: Type.Literal("response.input_tokens"),
  input_tokens: tokenCount,
});

/** Documentation only: the response is written by hand. */
export const compactedSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("response.compaction"),
  created_at: Type.Integer({ description: "Unix time in seconds." }),
  output: Type.Array(anyObject, { description: "The user's messages, then one `compaction` item." }),
  usage: responseSchema.properties.usage,
});
