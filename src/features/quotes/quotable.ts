import type { TSchema } from "typebox";
import type { Caller } from "../../lib/caller.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { RequestHeaders } from "../../platform/http/console-edge.ts";
import type { EndpointName } from "../../platform/http/endpoint-table.ts";
import type { compileValidator } from "../../platform/http/validation.ts";

/** A request to quote, validated as its endpoint validates it. */
export type QuoteAsked = {
  caller: Caller;
  body: unknown;
  bodyBytes: number;
  requestId: string;
  headers: RequestHeaders;
  /** The parameters of the path. */
  params: Readonly<Record<string, string>>;
};

/** What a charge depends on before the request runs, as its endpoint plans it. */
export type QuotedTerms = {
  modelId: string;
  /** The most that is put on hold, which is the most that is charged. */
  most: Nano;
  /** The most units of output. */
  units: bigint;
  /** What a plan's quota pays instead, if it covers all of it. */
  quota: { kind: QuotaKind; units: bigint };
  estimate: QuotedEstimate;
  /** What the request refers to beside its body, and what decides its price. */
  basis?: string;
};

export type QuotedEstimate = { charge: Nano } & (
  | { basis: "exact_price" }
  | { basis: "usual_answer"; inputTokens: number; outputTokens: number }
  | { basis: "input_tokens"; inputTokens: number }
  | { basis: "recording_length"; seconds: number }
  | { basis: "estimated_length"; seconds: number }
);

/** A paid endpoint whose requests can be quoted. */
export type Quotable = {
  endpoint: EndpointName;
  /** Below `/v1`, with the parameters of a route: `/dramas/:task_id/shots/:shot_number`. */
  path: string;
  /** The body's schema, and how the endpoint compiles it if not as usual. */
  schema: TSchema;
  compile?: typeof compileValidator;
  /** Changes the body before it is validated, in place. */
  open?(body: unknown): void;
  /** What a paid request must equal; by default the validated body. */
  describe?(body: unknown): unknown;
  /** Plans the request without side effects. Throws the endpoint's error. */
  quote(asked: QuoteAsked): Promise<QuotedTerms> | QuotedTerms;
};
