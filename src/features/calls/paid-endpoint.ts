import type { Bill } from "../../lib/bill.ts";
import type { Caller } from "../../lib/caller.ts";
import type { Nano } from "../../lib/money.ts";
import type { QuotaKind } from "../../lib/plan-terms.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { TokenCounts } from "../../platform/http/request-context.ts";
import type { SpanAttributes } from "../../platform/tracing/span.ts";
import type { ProviderError } from "../../providers/contract.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { ChargeRule } from "./call.ts";
import type { UpstreamNotice } from "./upstream-notices.ts";

/**
 * What a paid endpoint brings: where a request can go, how it is sent, what it costs and how its answer looks. All else,
 * from admission to settlement, is written once, in this feature.
 */

/** How long all attempts of a call may take: an upstream that hangs to its end leaves as much time for another. */
export function boundCallMs(timeoutsMs: Iterable<number>): number {
  let longestMs = 0;
  for (const timeoutMs of timeoutsMs) longestMs = Math.max(longestMs, timeoutMs);
  return 2 * longestMs;
}

/** How long a hold outlives the time that its call may take at the most. */
export const holdMarginMs = 5 * 60_000;

/** The types that an endpoint speaks of. */
export type CallKinds = {
  target: RouteTarget;
  /** A part of a streamed answer. */
  delta: unknown;
  /** A non-streaming answer. */
  answer: unknown;
  /** What an upstream reports, and what is charged. */
  reported: unknown;
  usage: unknown;
};

/** What a call does, in the words of OpenTelemetry's conventions for generative AI. */
export type CallOperation = {
  readonly name: "chat" | "embeddings" | "generate_content";
  /** `null` for what none of their words fits. */
  readonly outputType: "text" | "speech" | null;
};

export type CallPlan<K extends CallKinds> = {
  readonly operation: CallOperation;
  readonly caller: Caller;
  readonly requestId: string;
  readonly modelId: string;
  readonly targets: readonly K["target"][];
  /** How long all attempts together may take. The hold outlives it by `holdMarginMs`. */
  readonly callMs: number;
  readonly terms: CallTerms;
  readonly meter: CallMeter<K>;
  readonly presenter: CallPresenter<K>;
  /** What it will take of the caller's tokens a minute, until its usage is known. */
  readonly tokensLikely: number;
  /** What the answer's head tells beside the limits. */
  readonly headers: Record<string, string>;
  /** Sends the request to a target, which may write so many units, and tells the sink what comes of it. */
  start(target: K["target"], unitsMax: number, sink: CallSink<K>, attempt: CallAttempt): CallRun;
  /** A number that calls share which are best served by the same target; without it, chance decides among equals. */
  findAffinity?(): number;
  /** What the caller is told of a failure; what the upstream said of it is for the operator's log. */
  explain(error: ProviderError): AppError;
  bill(usage: K["usage"]): Bill;
  countTokens(usage: K["usage"]): CallTokens;
  /** The usage as fields of the log. */
  describeUsage(usage: K["usage"]): Record<string, unknown>;
  /** What the upstream did wrong, for the operator's log. */
  findNotice?(usage: K["usage"]): UpstreamNotice | null;
  /** The usage, and how the answer ended, as attributes of a span. */
  describeSpan(usage: K["usage"]): SpanAttributes;
};

export type CallTokens = TokenCounts;

/** Read when the attempt starts. */
export type CallAttempt = {
  /** For an upstream that gets the trace; `null` for any other. */
  readonly traceparent: string | null;
  /** What is left of the call's time. */
  readonly remainingMs: number;
};

/** A call to an upstream that is under way. Each function may be called at any time, also when the call is long over. */
export type CallRun = {
  pause(): void;
  resume(): void;
  /** Ends the call at once. The sink hears nothing more. */
  cancel(): void;
};

/** Hears what comes of a call to an upstream, in the order that `ChatSink` promises. */
export type CallSink<K extends CallKinds> = {
  onAccepted(): void;
  onPieces(deltas: readonly K["delta"][]): void;
  onEnd(reported: K["reported"] | null): void;
  onAnswer(answer: K["answer"]): void;
  onError(error: ProviderError): void;
};

/** How a call is paid for, in units of what its upstream writes. Where the price is not by units, there is one. */
export type CallTerms = {
  /** The price version that the call is charged by. */
  readonly priceId: string;
  readonly isFree: boolean;
  /** The most that the caller asked for or the model gives. */
  readonly unitsMax: number;
  /** As much has to be on hold before anything is known. */
  readonly unitsUsual: number;
  /** The gateway counts units as they come and stops at the hold; else the hold covers all that the upstream may write. */
  readonly isMetered: boolean;
  readonly quota: { kind: QuotaKind; units: bigint };
  readonly holdMs: number;
  /** The most that the call can cost with so many units. */
  price(units: number): Nano;
  /** How many units an amount pays for. */
  countAffordable(amount: Nano): number;
};

/** Whether more has been written than is on hold. */
export type HoldCover = { isBeyond(): boolean };

/** What an endpoint knows of the cost of one call while its answer comes. */
export type CallMeter<K extends CallKinds> = {
  /** Told before an upstream is asked how many units it may write. */
  begin(unitsMax: number): void;
  /** Counts the first of these pieces, as many as are covered, and says how many. */
  take(deltas: readonly K["delta"][], cover: HoldCover): number;
  /** Counts a whole answer. Returns what of it is delivered, and what the upstream reported with it. */
  takeAnswer(answer: K["answer"]): { answer: K["answer"]; reported: K["reported"] | null };
  /** The units that were written, by our own count, and the most that an upstream could make of them. */
  written(): number;
  writtenMax(): number;
  /** All has been written; only the usage is still to come. */
  isComplete(): boolean;
  /** More has been written than the cap that the upstream was given allows. */
  isPastCap(): boolean;
  /** What an upstream that has accepted and is stopped now has cost is known without reading on. */
  isCostKnown(): boolean;
  /** `unitsHeld`: what is charged where nothing else is known. */
  conclude(
    rule: ChargeRule,
    end: { reported: K["reported"] | null; unitsHeld: number; hasHungUp: boolean },
  ): { usage: K["usage"]; isDue: boolean; stoppedBy: StoppedBy | null };
};

/** Why an answer is shorter than it might be. */
export type StoppedBy = "insufficient_balance";

/** What was charged, and what the account could not pay. */
export type Settlement = { charge: Nano; lost: Nano };

/** How a call ended that produced something, or that ended well with nothing. */
export type CallEnd<K extends CallKinds> = {
  /** `null` where it went to the listener, piece by piece. */
  answer: K["answer"] | null;
  usage: K["usage"];
  settlement: Settlement;
  stoppedBy: StoppedBy | null;
  /** Why the answer broke off. */
  failure: AppError | null;
  hasHungUp: boolean;
};

/** How an answer looks on the wire. */
export type CallPresenter<K extends CallKinds> = {
  /** Whether it is sent when it is complete, as events, or as bytes. */
  readonly form: "whole" | "events" | "bytes";
  readonly contentType: string;
  presentWhole(end: CallEnd<K>): string;
  presentPieces(deltas: readonly K["delta"][]): string | Uint8Array;
  /** Ends an answer before the upstream's end: no money, or, where `stoppedBy` is `null`, the cap. */
  presentCut(stoppedBy: StoppedBy | null): string;
  presentTail(end: CallEnd<K>): string;
  /** The end of a stream that breaks off; `null` where only a break in the transfer can say so. */
  presentFailure(body: unknown): string | null;
  /** A sentence in place of an answer that was too large to be kept. */
  summarize(end: CallEnd<K>): string;
};
