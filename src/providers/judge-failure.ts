import type { ProviderError } from "./contract.ts";
import type { CallOutcome } from "./upstream-health.ts";

/** What a failure says of the upstream's health. */
export function describeOutcome({ kind, retryAfterMs, isIsolated }: ProviderError): CallOutcome {
  return isIsolated ? { kind: "abandoned" } : { kind, retryAfterMs };
}

/** Where the request itself is at fault, everybody would say the same. */
export function isWorthAnotherTarget({ kind }: ProviderError): boolean {
  return kind !== "rejected" && kind !== "content-refused" && kind !== "too-long";
}
