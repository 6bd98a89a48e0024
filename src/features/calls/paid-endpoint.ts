import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { TokenCounts } from "../../platform/http/request-context.ts";
import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { SpanAttributes } from "../../platform/tracing/span.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { QuotedEstimate } from "../quotes/index.ts";
import type { ChargeRule } from "./call.ts";
import type { UpstreamNotice } from "./upstream-notices.ts";

/**
 * What a paid endpoint implements: where a request can go, how it is sent, what it costs and how its response looks. This
 * feature does the rest, from admission to settlement.
 */

/** The time limit of all attempts of a call: after one upstream has timed out, another has as much time. */
export function boundCallMs(timeoutsMs: Iterable<number>): number {
  let longestMs = 0;
  for (const timeoutMs of timeoutsMs) longestMs = Math.max(longestMs, timeoutMs);
  return 2 * longestMs;
}

/** How long a hold outlives its call's time limit. */
export const holdMarginMs = 5 * 60_000;

/** An endpoint's types. */
export type CallKinds = {
  target: RouteTarget;
  /** A part of a streamed response. */
  delta: unknown;
  /** A whole response. */
  answer: unknown;
  /** The usage that an upstream reports, and the usage that is charged. */
  reported: unknown;
  usage: unknown;
};

/** OpenTelemetry's GenAI semantic conventions. */
export type CallOperation = {
  readonly name: "chat" | "embeddings" | "generate_content";
  /** `null` if no value fits. */
  readonly outputType: "text" | "speech" | null;
};

export type CallPlan<K extends CallKinds> = {
  readonly operation: CallOperation;
  readonly caller: Caller;
  readonly requestId: string;
  readonly modelId: string;
  readonly targets: readonly K["target"][];
  /** The time limit of all attempts together. The hold outlives it by `holdMarginMs`. */
  readonly callMs: number;
  readonly terms: CallTerms;
  readonly meter: CallMeter<K>;
  readonly presenter: CallPresenter<K>;
  /** The estimate that counts against the caller's token limit until the usage is known. */
  readonly tokensLikely: number;
  /** The most that was quoted: caps holds and the charge. */
  quoted?: Nano;
  /** The charge to expect; by default the most that it can cost. */
  estimate?(): QuotedEstimate;
  /** Response headers beside those of the limits. */
  readonly headers: Record<string, string>;
  /** Sends the request to a target with an output cap of `unitsMax`; the sink receives the response. */
  start(target: K["target"], unitsMax: number, sink: CallSink<K>, attempt: CallAttempt): CallRun;
  /** Calls with the same number prefer the same target. Without it, equal targets are chosen at random. */
  findAffinity?(): number;
  /** The caller's error for an upstream failure. It must not contain the upstream's message, which is logged. */
  explain(error: ProviderError): AppError;
  bill(usage: K["usage"]): Bill;
  /** What the target charges the operator for it; `null` if that is unknown. */
  findCost?(target: K["target"], usage: K["usage"]): UpstreamCost | null;
  countTokens(usage: K["usage"]): CallTokens;
  /** The usage as log fields. */
  describeUsage(usage: K["usage"]): Record<string, unknown>;
  /** The upstream's misbehaviour, for the operator's log. */
  findNotice?(usage: K["usage"]): UpstreamNotice | null;
  /** The usage and how the response ended, as span attributes. */
  describeSpan(usage: K["usage"]): SpanAttributes;
};

export type CallTokens = TokenCounts;

/** Read when the attempt starts. */
export type CallAttempt = {
  /** `null` if the upstream does not get the trace. */
  readonly traceparent: string | null;
  /** What is left of `callMs`. */
  readonly remainingMs: number;
};

/** A running call to an upstream. Every method may be called at any time, also after the call has ended. */
export type CallRun = {
  pause(): void;
  resume(): void;
  /** Ends the call at once. The sink receives nothing more. */
  cancel(): void;
};

/** Receives the response of an upstream, in the order that `ChatSink` documents. */
export type CallSink<K extends CallKinds> = {
  /** The headers of a response, as in `ChatSink`. */
  onHead?(headers: UpstreamHeaders): void;
  onAccepted(): void;
  onPieces(deltas: readonly K["delta"][]): void;
  onEnd(reported: K["reported"] | null): void;
  onAnswer(answer: K["answer"]): void;
  onError(error: ProviderError): void;
};

/** The price of a call by units of output. A call with a flat price has one unit. */
export type CallTerms = {
  /** The price version that the call is charged by. */
  readonly priceId: string;
  readonly isFree: boolean;
  /** The caller's or the model's maximum. */
  readonly unitsMax: number;
  /** The units that the first hold covers. */
  readonly unitsUsual: number;
  /** The gateway counts units as they arrive and stops at the hold. Otherwise the hold covers `unitsMax`. */
  readonly isMetered: boolean;
  readonly quota: { kind: QuotaKind; units: bigint };
  readonly holdMs: number;
  /** The maximum cost of a call with so many units. */
  price(units: number): Nano;
  countAffordable(amount: Nano): number;
};

/** Whether the output exceeds the hold. */
export type HoldCover = { isBeyond(): boolean };

/** Meters the cost of one call while its response arrives. */
export type CallMeter<K extends CallKinds> = {
  /** Called with the output cap before the request is sent. */
  begin(unitsMax: number): void;
  /** Counts deltas until the hold is used up, and returns how many it counted. */
  take(deltas: readonly K["delta"][], cover: HoldCover): number;
  /** Counts a whole response. Returns the part to deliver and the reported usage. */
  takeAnswer(answer: K["answer"]): { answer: K["answer"]; reported: K["reported"] | null };
  /** Units written by our own count, and the most that the upstream's tokenizer could count. */
  written(): number;
  writtenMax(): number;
  /** The output is complete; only the usage report is missing. */
  isComplete(): boolean;
  /** The output exceeds the upstream's cap. */
  isPastCap(): boolean;
  /** If the upstream were stopped now, its cost is known without reading on. */
  isCostKnown(): boolean;
  /** `unitsHeld` is charged if nothing else is known. */
  conclude(
    rule: ChargeRule,
    end: { reported: K["reported"] | null; unitsHeld: number; hasHungUp: boolean },
  ): { usage: K["usage"]; isDue: boolean; stoppedBy: StoppedBy | null };
};

/** Why a response was truncated. */
export type StoppedBy = "insufficient_balance";

/** `lost` is the usage that the account could not pay. */
export type Settlement = { charge: Nano; lost: Nano };

/** The end of a call that was settled. */
export type CallEnd<K extends CallKinds> = {
  /** `null` for a streamed response. */
  answer: K["answer"] | null;
  usage: K["usage"];
  settlement: Settlement;
  stoppedBy: StoppedBy | null;
  /** Why the response broke off. */
  failure: AppError | null;
  hasHungUp: boolean;
};

/** The wire format of a response. */
export type CallPresenter<K extends CallKinds> = {
  /** Sent whole, as server-sent events, or as a byte stream. */
  readonly form: "whole" | "events" | "bytes";
  readonly contentType: string;
  presentWhole(end: CallEnd<K>): string;
  presentPieces(deltas: readonly K["delta"][]): string | Uint8Array;
  /** The end of a truncated response: out of money, or, if `stoppedBy` is `null`, past the cap. */
  presentCut(stoppedBy: StoppedBy | null): string;
  presentTail(end: CallEnd<K>): string;
  /** The end of a failed stream; `null` if the format can only abort the transfer. */
  presentFailure(body: unknown): string | null;
  /** A sentence to store instead of a response that is too large. */
  summarize(end: CallEnd<K>): string;
};
