import { type Static, Type } from "typebox";
import { embeddingEncodings } from "../../providers/embedding.ts";

const text = Type.String({ minLength: 1 });
/** A token id in the model's vocabulary. */
const token = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
const tokens = Type.Array(token, { minItems: 1 });
const inputs = { minItems: 1 };

/** `null` means the same as leaving a field out. */
export const embeddingRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200, description: "An `id` from `GET /v1/models`." }),
    input: Type.Union([text, Type.Array(text, inputs), tokens, Type.Array(tokens, inputs)], {
      description: "A text, a list of texts, a list of tokens, or a list of token lists. At most 2048 inputs.",
    }),
    encoding_format: Type.Optional(
      Type.Union([Type.Enum([...embeddingEncodings]), Type.Null()], {
        description: "`float` (the default): an array of numbers. `base64`: little-endian 32-bit floats in base64.",
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

/** For the API reference: the presenter writes the JSON by hand. */
export const embeddingAnswerSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({
      object: Type.Literal("embedding"),
      index: Type.Integer({ minimum: 0, description: "The position of its input in the request." }),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String({ description: "Base64." })]),
    }),
  ),
  model: Type.String({ description: "The model id from the request." }),
  usage: Type.Object({
    prompt_tokens: Type.Integer({ minimum: 0 }),
    total_tokens: Type.Integer({ minimum: 0 }),
    charge: Type.String({ description: "The cost of the call, as a decimal in the deployment's currency." }),
  }),
});
