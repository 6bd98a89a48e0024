import { type Static, Type } from "typebox";
import { embeddingEncodings } from "../../providers/embedding.ts";

const text = Type.String({ minLength: 1 });
/** A token's number in the model's own vocabulary. */
const token = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
const tokens = Type.Array(token, { minItems: 1 });
const inputs = { minItems: 1 };

/** Optional, and `null` says as much as leaving it out. */
export const embeddingRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200, description: "An `id` from `GET /v1/models`." }),
    input: Type.Union([text, Type.Array(text, inputs), tokens, Type.Array(tokens, inputs)], {
      description: "A text, several texts, a list of tokens, or several lists of tokens: 2048 at the most.",
    }),
    encoding_format: Type.Optional(
      Type.Union([Type.Enum([...embeddingEncodings]), Type.Null()], {
        description: "`float`: numbers; `base64`: 32-bit numbers in little-endian order. `float` unless said.",
      }),
    ),
    dimensions: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 65_536 }), Type.Null()], {
        description: "The length of each vector, for models with the capability `dimensions`.",
      }),
    ),
    user: Type.Optional(Type.Union([Type.String({ maxLength: 512 }), Type.Null()])),
  },
  {
    additionalProperties: false,
    examples: [{ model: "sandbox-embedding", input: ["The gate is open.", "The door is not shut."] }],
  },
);

export type EmbeddingBody = Static<typeof embeddingRequestSchema>;

/** An answer as it is documented; it is written by hand, because its vectors are handed on as they came. */
export const embeddingAnswerSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      object: Type.Literal("embedding"),
      index: Type.Integer({ minimum: 0, description: "Which input it belongs to." }),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String({ description: "In base64." })]),
    }),
  ),
  model: Type.String({ description: "The id that the request named." }),
  usage: Type.Object({
    prompt_tokens: Type.Integer({ minimum: 0 }),
    total_tokens: Type.Integer({ minimum: 0 }),
    charge: Type.String({ description: "What the call cost, as a decimal in the deployment's currency." }),
  }),
});
