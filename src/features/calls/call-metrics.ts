import { toMetricAmount } from "../../platform/observability/metric-amount.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import type { CallTokens, Settlement } from "./paid-endpoint.ts";

export type CallMetrics = Pick<
  Metrics,
  "timeToFirstToken" | "tokens" | "charges" | "chargedAmount" | "lostAmount" | "callFaults" | "unchargedWork"
>;

export function countCharge(
  metrics: CallMetrics,
  modelId: string,
  { charge, lost, tokens }: Settlement & { tokens: CallTokens },
): void {
  metrics.tokens.at(modelId, "input").add(tokens.input);
  metrics.tokens.at(modelId, "output").add(tokens.output);
  metrics.charges.at(modelId).add(1);
  metrics.chargedAmount.at(modelId).add(toMetricAmount(charge));
  metrics.lostAmount.at(modelId).add(toMetricAmount(lost));
}
