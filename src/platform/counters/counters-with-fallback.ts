import type { Clock } from "../../lib/clock.ts";
import type { Counters } from "./counters.ts";

type FallbackOptions = {
  /** Throws on a timeout. */
  shared: Counters;
  local: Counters;
  clock: Clock;
  /** Called once per outage of the shared counters. */
  onTrouble(error: unknown): void;
  /** Called on every success. */
  onRecovery?(): void;
};

type Lease = { key: string; leaseId: string };

type Outcome<T> = { kind: "answered"; answer: T } | { kind: "failed" } | { kind: "skipped" };

/** During an outage, one request per interval probes the shared counters and pays for the wait. */
const probeEveryMs = 250;

/** Releases to repeat after an outage. Leases beyond this number expire by themselves. */
const missedReleasesMax = 10_000;
const releasesPerBatch = 100;

/**
 * Uses the shared counters, and the local ones while they are unavailable, with `isDegraded` set. Never throws because of
 * the shared ones.
 */
export function createCountersWithFallback(options: FallbackOptions): Counters {
  const { shared, local, clock, onTrouble, onRecovery = () => {} } = options;
  const missedReleases = new Map<string, Lease>();
  let isDown = false;
  let nextProbeAtMs = 0;

  function canProbe(): boolean {
    if (!isDown) return true;
    const nowMs = clock.monotonicMs();
    if (nowMs < nextProbeAtMs) return false;
    nextProbeAtMs = nowMs + probeEveryMs;
    return true;
  }

  async function tryShared<T>(operation: () => Promise<T>): Promise<Outcome<T>> {
    if (!canProbe()) return { kind: "skipped" };
    try {
      const answer = await operation();
      isDown = false;
      onRecovery();
      return { kind: "answered", answer };
    } catch (error) {
      if (!isDown) onTrouble(error);
      isDown = true;
      nextProbeAtMs = clock.monotonicMs() + probeEveryMs;
      return { kind: "failed" };
    }
  }

  async function release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const outcome = await tryShared(() => shared.release(leases));
    if (outcome.kind !== "answered") rememberReleases(leases);
  }

  function rememberReleases(leases: readonly Lease[]): void {
    for (const { key, leaseId } of leases) {
      if (missedReleases.size < missedReleasesMax) missedReleases.set(`${key} ${leaseId}`, { key, leaseId });
    }
  }

  /** Without this, callers with leases at the start of the outage would be locked out until they expire. */
  async function releaseMissed(): Promise<void> {
    const batch = missedReleases.entries().take(releasesPerBatch).toArray();
    for (const [name] of batch) missedReleases.delete(name);
    await release(batch.map(([, lease]) => lease));
  }

  return {
    async take(checks) {
      const outcome = await tryShared(() => shared.take(checks));
      if (outcome.kind === "answered") {
        if (missedReleases.size > 0) void releaseMissed();
        return outcome.answer;
      }
      const decision = await local.take(checks);
      // A `take` that timed out may still be applied, and its caller will not release it.
      if (outcome.kind === "failed" && !decision.isAllowed) rememberReleases(checks.leases);
      return { ...decision, isDegraded: true };
    },

    async correct(rate) {
      const outcome = await tryShared(() => shared.correct(rate));
      if (outcome.kind !== "answered") await local.correct(rate);
    },

    // The lease may be in either set of counters.
    async renew(lease) {
      await local.renew(lease);
      await tryShared(() => shared.renew(lease));
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
