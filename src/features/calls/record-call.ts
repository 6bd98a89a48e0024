import { presentMoney } from "../../lib/money.ts";
import { toMetricAmount } from "../../platform/observability/metric-amount.ts";
import type { Span, SpanOptions } from "../../platform/tracing/span.ts";
import type { CallContext } from "./call-context.ts";
import type { CallEnd, CallKinds, CallPlan, CallTokens, Settlement } from "./paid-endpoint.ts";
import type { RoutedRun } from "./route-call.ts";

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
export function describeCall<K extends CallKinds>({ requestId, caller, modelId }: CallPlan<K>): Record<string, unknown> {
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

type RecordedCall<K extends CallKinds> = {
  plan: CallPlan<K>;
  span: Span | null;
  routed: Pick<RoutedRun<K>, "target">;
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
