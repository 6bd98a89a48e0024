import { Type } from "typebox";

const tokenCount = Type.Integer({ minimum: 0 });
const anyObject = Type.Record(Type.String(), Type.Unknown());
const nullable = (schema: ReturnType<typeof Type.Object>) => Type.Union([schema, Type.Null()]);

/** A response as it is documented; it is written by hand. */
export const responseSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("response"),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    completed_at: Type.Union([Type.Integer(), Type.Null()]),
    status: Type.Enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
    model: Type.String({ description: "The id that the request named." }),
    output: Type.Array(anyObject, { description: "Messages, calls of tools and reasoning, in their order." }),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() }, { additionalProperties: true })),
    incomplete_details: nullable(
      Type.Object({ reason: Type.Optional(Type.Enum(["max_output_tokens", "content_filter"])) }),
    ),
    store: Type.Boolean({ description: "Whether the response is kept." }),
    usage: nullable(
      Type.Object({
        input_tokens: tokenCount,
        input_tokens_details: Type.Object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }),
        output_tokens: tokenCount,
        output_tokens_details: Type.Object({ reasoning_tokens: tokenCount }),
        total_tokens: tokenCount,
        charge: Type.String({ description: "What the call cost, as a decimal in the deployment's currency." }),
      }),
    ),
    stopped_by: Type.Optional(
      Type.Literal("insufficient_balance", { description: "Why the answer is cut short, where money ran out." }),
    ),
  },
  {
    additionalProperties: true,
    description: "The response, with what it repeats of its request; with `stream: true` the same in events.",
  },
);
