import type { FailedAttempt } from "../../platform/http/request-context.ts";
import type { ProviderError } from "../../providers/contract.ts";
import { describeFailure } from "../../providers/failures/describe-failure.ts";
import type { RouteTarget } from "../catalog/index.ts";

export function describeFailedAttempt(target: RouteTarget, error: ProviderError, durationMs: number): FailedAttempt {
  const { providerId, upstreamModel, keyNumber } = target;
  const place = { upstream: providerId, upstreamModel, keyNumber };
  return { ...place, durationMs: Math.round(durationMs), ...describeFailure(error, target) };
}

/** Log fields. */
export function presentAttempt(attempt: FailedAttempt): Record<string, unknown> {
  const { upstream, upstreamModel, keyNumber, durationMs, kind, status, code, said } = attempt;
  const place = { upstream, upstream_model: upstreamModel, upstream_key: keyNumber };
  return { ...place, failure: kind, upstream_status: status, upstream_code: code, said, duration_ms: durationMs };
}
