import type { Clock } from "../../lib/clock.ts";

/** A value with a minimum interval between reads, read on demand. The last value stays until the next read. */
export type SlowReading<T> = {
  /** Reads unless a read is running or was tried within the interval. Resolves even if the read fails. */
  refresh(): Promise<void>;
  last(): T | null;
  /** Age of the last value; NaN without one. */
  ageMs(): number;
};

type SlowReadingOptions<T> = { clock: Pick<Clock, "monotonicMs">; everyMs: number; read(): Promise<T> };

export function createSlowReading<T>({ clock, everyMs, read }: SlowReadingOptions<T>): SlowReading<T> {
  let last: { value: T; atMs: number } | null = null;
  let underWay: Promise<void> | null = null;
  let triedAtMs = Number.NEGATIVE_INFINITY;

  async function attempt(): Promise<void> {
    try {
      const atMs = clock.monotonicMs();
      last = { value: await read(), atMs };
    } catch {
      // The age metric shows it, and other users of the database log the reason.
    } finally {
      underWay = null;
    }
  }

  return {
    async refresh() {
      const nowMs = clock.monotonicMs();
      if (underWay === null && nowMs - triedAtMs >= everyMs) {
        triedAtMs = nowMs;
        underWay = attempt();
      }
      await underWay;
    },
    last: () => last?.value ?? null,
    ageMs: () => (last === null ? Number.NaN : clock.monotonicMs() - last.atMs),
  };
}
