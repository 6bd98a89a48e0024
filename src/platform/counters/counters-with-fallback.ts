import type { Clock } from "../../lib/clock.ts";
import type { Counters } from "./counters.ts";

type FallbackOptions = {
  /** Throws where it cannot answer in time. */
  shared: Counters;
  local: Counters;
  clock: Clock;
  /** Told when the shared counters fail, and again only after they were back. */
  onTrouble(error: unknown): void;
  /** Told whenever they answer. */
  onRecovery?(): void;
};

type Lease = { key: string; leaseId: string };

type Outcome<T> = { kind: "answered"; answer: T } | { kind: "failed" } | { kind: "skipped" };

/** While the shared counters are away, one request in this time tries them again and pays for the wait. */
const probeEveryMs = 250;

/** Releases kept for when the shared counters are back. What is beyond frees itself when its time is over. */
const missedReleasesMax = 10_000;
const releasesPerBatch = 100;

/**
 * The shared counters decide; where they do not answer, the local ones do, and the decision says so. Never throws for
 * trouble with the shared ones.
 */
export function createCountersWithFallback(options: FallbackOptions): Counters {
  const { shared, local, clock, onTrouble, onRecovery = () => {} } = options;
  const missedReleases = new Map<string, Lease>();
  let isAway = false;
  let nextProbeAtMs = 0;

  function mayAsk(): boolean {
    if (!isAway) return true;
    const nowMs = clock.monotonicMs();
    if (nowMs < nextProbeAtMs) return false;
    nextProbeAtMs = nowMs + probeEveryMs;
    return true;
  }

  async function askShared<T>(operation: () => Promise<T>): Promise<Outcome<T>> {
    if (!mayAsk()) return { kind: "skipped" };
    try {
      const answer = await operation();
      isAway = false;
      onRecovery();
      return { kind: "answered", answer };
    } catch (error) {
      if (!isAway) onTrouble(error);
      isAway = true;
      nextProbeAtMs = clock.monotonicMs() + probeEveryMs;
      return { kind: "failed" };
    }
  }

  async function release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const outcome = await askShared(() => shared.release(leases));
    if (outcome.kind !== "answered") rememberReleases(leases);
  }

  function rememberReleases(leases: readonly Lease[]): void {
    for (const { key, leaseId } of leases) {
      if (missedReleases.size < missedReleasesMax) missedReleases.set(`${key} ${leaseId}`, { key, leaseId });
    }
  }

  /** Without this, whoever held leases when the shared counters went away would be locked out until they run out. */
  async function releaseMissed(): Promise<void> {
    const batch = missedReleases.entries().take(releasesPerBatch).toArray();
    for (const [name] of batch) missedReleases.delete(name);
    await release(batch.map(([, lease]) => lease));
  }

  return {
    async take(checks) {
      const outcome = await askShared(() => shared.take(checks));
      if (outcome.kind === "answered") {
        if (missedReleases.size > 0) void releaseMissed();
        return outcome.answer;
      }
      const decision = await local.take(checks);
      // Nobody releases what was refused, but what was not answered in time may still be carried out.
      if (outcome.kind === "failed" && !decision.isAllowed) rememberReleases(checks.leases);
      return { ...decision, isDegraded: true };
    },

    async correct(rate) {
      const outcome = await askShared(() => shared.correct(rate));
      if (outcome.kind !== "answered") await local.correct(rate);
    },

    // A lease may have been taken here or there, so both hear of it.
    async renew(lease) {
      await local.renew(lease);
      await askShared(() => shared.renew(lease));
    },

    async release(leases) {
      await local.release(leases);
      await release(leases);
    },

    async close() {
      await Promise.all([shared.close(), local.close()]);
    },
  };
}
