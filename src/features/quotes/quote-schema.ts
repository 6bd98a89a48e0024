import { type Static, Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import { quotaKinds } from "../../lib/plan-terms.ts";
import type { QuotedEstimate, QuotedTerms } from "./quotable.ts";

export const quoteRequestSchema = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "The path of the paid request, with or without `/v1`.",
      examples: ["/chat/completions"],
    }),
    request: Type.Unsafe<Record<string, unknown>>(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: "The body of the paid request.",
          examples: [{ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }],
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const amount = (description: string) =>
  Type.String({ pattern: "^\\d+\\.\\d{2,9}$", examples: ["0.0123"], description });
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

export const quoteSchema = Type.Object({
  object: Type.Literal("quote"),
  id: Type.String({ description: "Send it as `X-Quote-Id` with the request." }),
  path: Type.String(),
  model: Type.String({ description: "The model's id, also if the request names an alias." }),
  currency: Type.String(),
  max_charge: amount("The most that the request costs with this quote. It is put on hold while the request runs."),
  quota: Type.Object(
    { kind: Type.Enum([...quotaKinds]), units: Type.Integer({ minimum: 0 }) },
    { description: "If a quota of your plan has this many units left, it pays instead, and the charge is 0." },
  ),
  estimate: Type.Object({
    charge: amount("The charge to expect."),
    basis: Type.Enum(["exact_price", "usual_answer", "input_tokens", "recording_length", "estimated_length"], {
      description: `What the estimate assumes. \`exact_price\`: the result is as requested. \`usual_answer\`: an answer of the model's usual
length. \`input_tokens\`: the estimated tokens of the input. \`recording_length\`: speech of usual speed. \`estimated_length\`: the
estimated length of the video.`,
    }),
    input_tokens: count("The estimated input tokens."),
    output_tokens: count("The tokens of a usual answer, at most those that the request allows."),
    seconds: count("The seconds of the recording or the video."),
  }),
  created: Type.Integer({ description: "Unix time in seconds." }),
  expires_at: Type.String({ format: "date-time", description: "The quote is valid for 15 minutes." }),
});

type Issued = { id: string; path: string; currency: string; now: Date; expiresAt: Date };

export function presentQuote(
  { modelId, most, quota, estimate }: QuotedTerms,
  { id, path, currency, now, expiresAt }: Issued,
): Static<typeof quoteSchema> {
  return {
    object: "quote",
    ...{ id, path, model: modelId, currency },
    max_charge: presentMoney(most),
    quota: { kind: quota.kind, units: Number(quota.units) },
    estimate: presentEstimate(estimate),
    created: Math.floor(now.getTime() / 1000),
    expires_at: expiresAt.toISOString(),
  };
}

function presentEstimate(estimate: QuotedEstimate): Static<typeof quoteSchema>["estimate"] {
  const { basis } = estimate;
  const known = { charge: presentMoney(estimate.charge), basis };
  switch (estimate.basis) {
    case "exact_price":
      return known;
    case "usual_answer":
      return { ...known, input_tokens: estimate.inputTokens, output_tokens: estimate.outputTokens };
    case "input_tokens":
      return { ...known, input_tokens: estimate.inputTokens };
    case "recording_length":
    case "estimated_length":
      return { ...known, seconds: estimate.seconds };
  }
}
