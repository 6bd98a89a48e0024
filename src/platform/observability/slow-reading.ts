import type { Clock } from "../../lib/clock.ts";

/** Something that is asked for seldom, and only when somebody wants it. What was read last stays until it is read again. */
export type SlowReading<T> = {
  /** Reads unless that was tried a moment ago or is under way. Resolves when it is done, however it went. */
  refresh(): Promise<void>;
  last(): T | null;
  /** How old what was read last is; NaN where nothing was. */
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
      // Its age tells of it, and those who need the database to serve tell why.
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
