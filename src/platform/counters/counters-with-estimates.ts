import type { Clock } from "../../lib/clock.ts";
import type { CounterDecision, Counters, LeaseCheck } from "./counters.ts";
import { averageRecent, clampWait, estimateWait } from "./estimate-wait.ts";
import { createSweptMap } from "./swept-map.ts";

/** Recent average of how long leases were held; `null` before the first release. */
type Usual = { usualMs: number | null };

/** This process's leases of one key. */
type Pace = Usual & {
  /** Averages over all keys with the same work, until this key has its own. */
  work: Usual;
  /** Start times of the leases held by this process, oldest first. */
  beganAtMs: Map<string, number>;
  endedAtMs: number;
};

const memoryUs = 10 * 60_000_000;
const keysMax = 20_000;
/** Before the first release. */
const usualMsAtFirst = 5000;

/**
 * Estimates when a lease will be free from how long leases were held recently; the plain counters only know when one
 * expires, long after its usual release. Each process uses its own observations and assumes that leases of other
 * processes began at random times.
 */
export function createCountersWithEstimates({ counters, clock }: { counters: Counters; clock: Clock }): Counters {
  const paces = createSweptMap<Pace>({
    entriesMax: keysMax,
    isSpent: ({ beganAtMs, endedAtMs }, nowUs) => beganAtMs.size === 0 && nowUs - endedAtMs * 1000 > memoryUs,
  });
  const works = new Map<string, Usual>();

  function getPace(key: string, work: string, nowMs: number): Pace {
    const known = paces.get(key);
    if (known !== undefined) return known;
    const pace: Pace = { work: getWork(work), usualMs: null, beganAtMs: new Map(), endedAtMs: nowMs };
    paces.add(key, pace, nowMs * 1000);
    return pace;
  }

  function getWork(name: string): Usual {
    const work = works.get(name) ?? { usualMs: null };
    works.set(name, work);
    return work;
  }

  function getUsual({ usualMs, work }: Pace): number {
    return usualMs ?? work.usualMs ?? usualMsAtFirst;
  }

  function noteBegin({ beganAtMs }: Pace, check: LeaseCheck, nowMs: number): void {
    if (beganAtMs.has(check.leaseId)) return;
    // Beyond the limit, the oldest lease must have expired without a release.
    const oldest = beganAtMs.size < check.max ? undefined : beganAtMs.keys().next().value;
    if (oldest !== undefined) beganAtMs.delete(oldest);
    beganAtMs.set(check.leaseId, nowMs);
  }

  function noteEnd({ key, leaseId }: { key: string; leaseId: string }, nowMs: number): void {
    const pace = paces.get(key);
    const beganAtMs = pace?.beganAtMs.get(leaseId);
    if (pace === undefined || beganAtMs === undefined) return;
    pace.beganAtMs.delete(leaseId);
    pace.endedAtMs = nowMs;
    const durationMs = nowMs - beganAtMs;
    pace.usualMs = averageRecent(pace.usualMs, durationMs);
    pace.work.usualMs = averageRecent(pace.work.usualMs, durationMs);
  }

  function estimate(pace: Pace, { max }: LeaseCheck, nowMs: number): number {
    const usualMs = getUsual(pace);
    const holders = [...pace.beganAtMs.values()].map((beganAtMs) => ({ ageMs: nowMs - beganAtMs, usualMs }));
    // Expected time until the first of n leases with random start times ends.
    const elsewhere = max - holders.length;
    if (elsewhere > 0) holders.push({ ageMs: 0, usualMs: usualMs / elsewhere });
    return estimateWait(holders);
  }

  /** Mutates the decision, which is not shared: this is the hot path. */
  function complete(leases: readonly LeaseCheck[], decision: CounterDecision): CounterDecision {
    const nowMs = clock.monotonicMs();
    let index = 0;
    for (const check of leases) {
      const state = decision.leases[index++];
      if (check.work === undefined || state === undefined) continue;
      const pace = getPace(check.key, check.work, nowMs);
      if (decision.isAllowed) noteBegin(pace, check, nowMs);
      if (state.retryAfterMs > 0) {
        state.retryAfterMs = clampWait(Math.min(state.retryAfterMs, estimate(pace, check, nowMs)));
        state.resetMs = state.retryAfterMs;
      } else if (state.resetMs > 0) {
        state.resetMs = clampWait(getUsual(pace));
      }
    }
    return decision;
  }

  return {
    take: async (checks) => complete(checks.leases, await counters.take(checks)),
    correct: (rate) => counters.correct(rate),
    renew: (lease) => counters.renew(lease),
    release(leases) {
      const nowMs = clock.monotonicMs();
      for (const lease of leases) noteEnd(lease, nowMs);
      return counters.release(leases);
    },
    close: () => counters.close(),
  };
}
