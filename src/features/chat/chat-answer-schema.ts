import { Type } from "typebox";

const tokenCount = Type.Integer({ minimum: 0 });

/** Documentation only: the response is written by hand, because its choices are forwarded as received. */
export const chatAnswerSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("chat.completion"),
    created: Type.Integer({ description: "Unix time in seconds." }),
    model: Type.String({ description: "The model id from the request." }),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          message: Type.Object(
            {
              role: Type.Literal("assistant"),
              content: Type.Union([Type.String(), Type.Null()]),
              refusal: Type.Optional(Type.Union([Type.String(), Type.Null()])),
              reasoning_content: Type.Optional(
                Type.String({ description: "The model's reasoning, if the provider returns it." }),
              ),
              tool_calls: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
            },
            { additionalProperties: true },
          ),
          finish_reason: Type.Enum(["stop", "length", "tool_calls", "content_filter", "function_call"]),
          logprobs: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
        },
        { additionalProperties: true },
      ),
    ),
    usage: Type.Object({
      prompt_tokens: tokenCount,
      completion_tokens: tokenCount,
      total_tokens: tokenCount,
      prompt_tokens_details: Type.Object({
        cached_tokens: tokenCount,
        cache_write_tokens: tokenCount,
        audio_tokens: tokenCount,
      }),
      completion_tokens_details: Type.Object({
        reasoning_tokens: tokenCount,
        audio_tokens: tokenCount,
        accepted_prediction_tokens: tokenCount,
        rejected_prediction_tokens: tokenCount,
      }),
      charge: Type.String({ description: "The cost of the call, as a decimal in the deployment's currency." }),
      cache_saving: Type.Optional(
        Type.String({
          description: "How much the prompt cache saved. Absent if it saved nothing.",
        }),
      ),
    }),
    stopped_by: Type.Optional(
      Type.Literal("insufficient_balance", {
        description: "Present if the answer was cut off because the balance ran out.",
      }),
    ),
  },
  { description: "The completion. With `stream: true` it arrives as server-sent events that end with `[DONE]`." },
);
