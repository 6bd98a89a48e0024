import { presentMoney } from "../../lib/money.ts";
import type { UpstreamCost } from "../../lib/upstream-cost.ts";
import { type CallFacts, closeFacts, type FailedAttempt } from "../../platform/http/request-context.ts";
import { toMetricAmount } from "../../platform/observability/metric-amount.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { describeFailure } from "../../providers/failures/describe-failure.ts";
import type { RouteTarget } from "../catalog/index.ts";
import type { CallContext } from "./call-context.ts";
import type { CallEnd, CallKinds, CallPlan, CallTokens, Settlement } from "./paid-endpoint.ts";

/** The name and attributes of a call's span. */
export function describeCallSpan<K extends CallKinds>({
  operation,
  modelId,
  caller,
  presenter,
}: CallPlan<K>): [name: string, options: SpanOptions] {
  const attributes = {
    "gen_ai.operation.name": operation.name,
    "gen_ai.output.type": operation.outputType ?? undefined,
    "gen_ai.request.model": modelId,
    "gen_ai.request.stream": presenter.form !== "whole",
    "sluice.account.id": caller.accountId,
    "sluice.key.id": caller.keyId,
  };
  return [`${operation.name} ${modelId}`, { attributes }];
}

/** The fields of every log line about a call. */
export function describeCall<K extends CallKinds>({
  requestId,
  caller,
  modelId,
}: CallPlan<K>): Record<string, unknown> {
  return { request_id: requestId, account_id: caller.accountId, key_id: caller.keyId, model: modelId };
}

export function countCharge(
  metrics: CallContext["metrics"],
  modelId: string,
  { charge, lost, tokens }: Settlement & { tokens: CallTokens },
): void {
  metrics.tokens.at(modelId, "input").add(tokens.input);
  metrics.tokens.at(modelId, "output").add(tokens.output);
  metrics.charges.at(modelId).add(1);
  metrics.chargedAmount.at(modelId).add(toMetricAmount(charge));
  metrics.lostAmount.at(modelId).add(toMetricAmount(lost));
}

type PaidCost = { cost: UpstreamCost; settlement: Settlement; isCharged: boolean };

/** A vendor's report may differ this much from the cost sheet, because vendors round. */
const driftPercentMax = 2n;

/** Counts what a call cost, stores it if the call has no charge to store it with, and warns of a loss or a wrong cost sheet. */
export function recordCost<K extends CallKinds>(
  { metrics, notices, unchargedCosts }: Pick<CallContext, "metrics" | "notices" | "unchargedCosts">,
  { plan }: Pick<RecordedCall<K>, "plan">,
  { cost, settlement: { charge }, isCharged }: PaidCost,
): void {
  const { providerId, upstreamModel, amount, computed } = cost;
  const { caller, modelId } = plan;
  const isPaid = isCharged && !plan.terms.isFree;
  if (!isPaid) unchargedCosts.add({ ...cost, accountId: caller.accountId, modelId });
  // Quotas and free models earn nothing per call.
  metrics.upstreamCost.at(modelId, providerId, charge > 0n ? "balance" : "other").add(toMetricAmount(amount));
  if (computed !== null) {
    metrics.upstreamCostReported.at(providerId, upstreamModel).add(toMetricAmount(amount));
    metrics.upstreamCostComputed.at(providerId, upstreamModel).add(toMetricAmount(computed));
  }
  const fields = {
    ...{ ...describeCall(plan), upstream: providerId, upstream_model: upstreamModel },
    ...{ cost: presentMoney(amount), charge: presentMoney(charge) },
  };
  if (charge > 0n && amount > charge) notices.warn(cost, "cost-above-charge", fields);
  if (computed === null) return;
  const drift = amount > computed ? amount - computed : computed - amount;
  // A nano of rounding is no drift.
  if (drift > 1n && drift * 100n > computed * driftPercentMax) {
    notices.warn(cost, "cost-differs", { ...fields, computed: presentMoney(computed) });
  }
}

/** How a call was routed. */
export type Routed<K extends CallKinds> = {
  /** The target that answers or was tried last; `null` if none was available. */
  readonly target: K["target"] | null;
  /** The id that this target gave the request; `null` if it has sent none. */
  readonly upstreamRequestId: string | null;
  /** Oldest first. */
  readonly failedAttempts: readonly FailedAttempt[];
};

type RecordedCall<K extends CallKinds> = {
  plan: CallPlan<K>;
  span: Span | null;
  routed: Routed<K>;
};

/** Logs what the operator has to know of an ended call, and completes its span. */
export function recordCallEnd<K extends CallKinds>(
  { logger, notices }: CallContext,
  { plan, span, routed }: RecordedCall<K>,
  { usage, settlement, stoppedBy, hasHungUp }: CallEnd<K>,
): void {
  const { target } = routed;
  if (settlement.lost > 0n) {
    const upstream = target === null ? describeCall(plan) : describeUpstream(plan, target);
    const fields = { ...upstream, ...plan.describeUsage(usage), lost: presentMoney(settlement.lost) };
    logger.error(fields, "upstream usage exceeded the hold");
  }
  const notice = plan.findNotice?.(usage) ?? null;
  if (notice !== null && target !== null) {
    notices.warn(target, notice, { ...describeUpstream(plan, target), ...plan.describeUsage(usage) });
  }
  span?.set({
    "gen_ai.response.model": target?.upstreamModel,
    ...plan.describeSpan(usage),
    "sluice.charge": presentMoney(settlement.charge),
    "sluice.stopped_by": stoppedBy ?? undefined,
    "sluice.hung_up": hasHungUp ? true : undefined,
  });
}

function describeUpstream<K extends CallKinds>(
  plan: CallPlan<K>,
  { providerId, upstreamModel, keyNumber }: K["target"],
): Record<string, unknown> {
  return { ...describeCall(plan), upstream: providerId, upstream_model: upstreamModel, upstream_key: keyNumber };
}

export function describeFailedAttempt(
  target: RouteTarget,
  {
    error,
    durationMs,
    upstreamRequestId,
  }: { error: ProviderError } & Pick<FailedAttempt, "durationMs" | "upstreamRequestId">,
): FailedAttempt {
  const { providerId, upstreamModel, keyNumber } = target;
  const place = { upstream: providerId, upstreamModel, keyNumber };
  return { ...place, durationMs: Math.round(durationMs), upstreamRequestId, ...describeFailure(error, target) };
}

/** Log fields. */
export function presentAttempt(attempt: FailedAttempt): Record<string, unknown> {
  const { upstream, upstreamModel, keyNumber, durationMs, kind, status, code, said, upstreamRequestId } = attempt;
  const place = { upstream, upstream_model: upstreamModel, upstream_key: keyNumber };
  const answer = { upstream_status: status, upstream_code: code, said, upstream_request_id: upstreamRequestId };
  return { ...place, failure: kind, ...answer, duration_ms: durationMs };
}

/** Adds a finished call to the account's request log. */
export function noteFacts<K extends CallKinds>(
  facts: CallFacts | null,
  call: Pick<RecordedCall<K>, "plan" | "routed"> & { findChargeId(): string | null },
  end: CallEnd<K>,
): void {
  if (facts === null) return;
  const tokens = call.plan.countTokens(end.usage);
  facts.tokens = tokens.input === 0 && tokens.output === 0 ? null : tokens;
  facts.chargeId = call.findChargeId();
  facts.charge = end.settlement.charge;
  noteRouting(facts, call);
  closeFacts(facts);
}

/** Also called for calls that failed. */
export function noteRouting<K extends CallKinds>(
  facts: CallFacts | null,
  { routed }: Pick<RecordedCall<K>, "routed">,
): void {
  if (facts === null) return;
  facts.upstream = routed.target?.providerId ?? null;
  facts.upstreamRequestId = routed.upstreamRequestId;
  facts.failedAttempts = routed.failedAttempts;
}
