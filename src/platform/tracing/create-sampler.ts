import type { Clock } from "../../lib/clock.ts";
import type { TraceParent } from "./traceparent.ts";

export const samplerNames = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof samplerNames)[number];

export type SamplerOptions = {
  name: SamplerName;
  /** For `traceidratio` samplers, from 0 to 1. */
  ratio: number;
  /** Requests per second sampled because of the caller's flag. */
  callersPerSecondMax: number;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
};

export type Sampler = {
  /** Whether requests join their caller's trace; otherwise they start a new one with a link to it. */
  trustsCallers: boolean;
  isSampled(caller: TraceParent | null): boolean;
};

/**
 * Head sampling. OpenTelemetry's samplers decide by the trace id, which callers choose and could choose to always be
 * sampled; this one uses random numbers. The caller's sampled flag is trusted up to a rate limit.
 */
export function createSampler({ name, ratio, callersPerSecondMax, clock, random }: SamplerOptions): Sampler {
  const trustsCallers = name.startsWith("parentbased_");
  const share = name.endsWith("always_on") ? 1 : name.endsWith("always_off") ? 0 : ratio;
  let tokens = callersPerSecondMax;
  let filledAtMs = clock.monotonicMs();

  function takeToken(): boolean {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(callersPerSecondMax, tokens + ((nowMs - filledAtMs) / 1000) * callersPerSecondMax);
    filledAtMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }

  return {
    trustsCallers,
    isSampled(caller) {
      if (trustsCallers && caller !== null) {
        if (!caller.isSampled) return false;
        if (takeToken()) return true;
      }
      return share >= 1 || random() < share;
    },
  };
}
