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
  /** Of the samplers whose name ends in `traceidratio`: from 0, nothing, to 1, everything. */
  ratio: number;
  /** How many requests a second are sampled because their callers say so. */
  callersPerSecondMax: number;
  clock: Clock;
  /** At least 0 and less than 1. */
  random(): number;
};

export type Sampler = {
  /** Whether a request belongs to its caller's trace; else it begins one of its own with a link to that. */
  trustsCallers: boolean;
  isSampled(caller: TraceParent | null): boolean;
};

/**
 * Decides once for each request, before anything is made for it. Not by the trace's id, as OpenTelemetry's own samplers
 * do: callers choose that, and could choose one that is always sampled. Those who say that they sample are believed up
 * to so many a second; beyond that their requests are sampled as if they had said nothing.
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
