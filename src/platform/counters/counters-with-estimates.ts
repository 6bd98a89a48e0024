import type { Clock } from "../../lib/clock.ts";
import type { CounterDecision, Counters, LeaseCheck } from "./counters.ts";
import { averageRecent, clampWait, estimateWait } from "./estimate-wait.ts";
import { createSweptMap } from "./swept-map.ts";

/** How long leases were held lately; `null` until one was released. */
type Usual = { usualMs: number | null };

/** What this process knows of the leases of one key. */
type Pace = Usual & {
  /** Where nothing is known of a key yet, others with the same work tell how long it takes. */
  work: Usual;
  /** When those began that this process holds, the oldest first. */
  beganAtMs: Map<string, number>;
  endedAtMs: number;
};

/** Durations are recent for so long. */
const memoryUs = 10 * 60_000_000;
const keysMax = 20_000;
/** Where nothing was ever released. */
const usualMsAtFirst = 5000;

/**
 * Counters that tell when a place is likely free, from how long leases with work were held lately. By themselves they
 * only know when a lease runs out, which is long after its holder has released it. Each process goes by what it has seen
 * itself, so that nobody has to be asked, and counts those that other processes hold as begun at any time.
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
    // No more can be held than the limit allows: what is beyond ran out without being released.
    const [oldest] = beganAtMs.size < check.max ? [] : beganAtMs.keys();
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
    // Of so many whose beginnings nobody here knows, the first is done after such a part of the usual time.
    const elsewhere = max - holders.length;
    if (elsewhere > 0) holders.push({ ageMs: 0, usualMs: usualMs / elsewhere });
    return estimateWait(holders);
  }

  /** In place, because all calls of models pass here: what counters answer is nobody else's. */
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
