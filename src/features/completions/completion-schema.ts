import { type Static, type TSchema, Type } from "typebox";

/** `null` means the same as leaving the field out. */
function nullable<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Each is a request to the upstream. */
export const promptsMax = 32;

const text = Type.String();
const tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 });
const penalty = Type.Number({ minimum: -2, maximum: 2 });
const count = Type.Integer({ minimum: 1, maximum: 128 });

export const completionRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200, description: "The `id` of a chat model." }),
    prompt: Type.Union([text, Type.Array(text, { minItems: 1 }), tokens, Type.Array(tokens, { minItems: 1 })], {
      description: `A text, or a list of up to ${promptsMax} texts. Each prompt gets \`n\` choices. Tokens are rejected.`,
    }),
    stream: nullable(Type.Boolean()),
    stream_options: nullable(
      Type.Object(
        { include_usage: nullable(Type.Boolean()), include_obfuscation: nullable(Type.Boolean()) },
        { additionalProperties: false },
      ),
    ),
    max_tokens: nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    n: nullable(count),
    best_of: nullable(count),
    stop: nullable(
      Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 4 }),
      ]),
    ),
    temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    frequency_penalty: nullable(penalty),
    presence_penalty: nullable(penalty),
    logit_bias: nullable(
      Type.Unsafe<Record<string, number>>({
        type: "object",
        additionalProperties: Type.Number({ minimum: -100, maximum: 100 }),
      }),
    ),
    logprobs: nullable(Type.Integer({ minimum: 0, maximum: 5 })),
    seed: nullable(Type.Integer()),
    suffix: nullable(
      Type.String({ description: "The text after the completion, for models whose upstream has the completions API." }),
    ),
    echo: nullable(Type.Boolean()),
    user: nullable(Type.String({ maxLength: 512 })),
  },
  {
    additionalProperties: false,
    examples: [{ model: "sandbox-chat", prompt: "Why is the sky blue? Answer in one sentence." }],
  },
);

export type CompletionBody = Static<typeof completionRequestSchema>;

const tokenCount = Type.Integer({ minimum: 0 });

/** For the API reference: the presenter writes the JSON by hand. */
export const completionAnswerSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("text_completion"),
    created: Type.Integer({ description: "Unix time in seconds." }),
    model: Type.String({ description: "The model id from the request." }),
    choices: Type.Array(
      Type.Object({
        text: Type.String(),
        index: Type.Integer(),
        logprobs: Type.Union([
          Type.Object({
            tokens: Type.Array(Type.String()),
            token_logprobs: Type.Array(Type.Number()),
            top_logprobs: Type.Union([Type.Array(Type.Record(Type.String(), Type.Number())), Type.Null()]),
            text_offset: Type.Array(Type.Integer()),
          }),
          Type.Null(),
        ]),
        finish_reason: Type.Enum(["stop", "length", "content_filter"]),
      }),
    ),
    usage: Type.Object(
      {
        prompt_tokens: tokenCount,
        completion_tokens: tokenCount,
        total_tokens: tokenCount,
        charge: Type.String({ description: "The cost of the call, as a decimal in the deployment's currency." }),
      },
      { additionalProperties: true },
    ),
    stopped_by: Type.Optional(
      Type.Literal("insufficient_balance", {
        description: "Set if the balance ran out before the answer was complete.",
      }),
    ),
  },
  {
    description:
      "The completion. With `stream: true` it is sent in pieces, as server-sent events that end with `[DONE]`.",
  },
);
