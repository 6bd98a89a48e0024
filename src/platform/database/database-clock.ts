import { type Clock, systemClock } from "../../lib/clock.ts";
import { type Database, readServerTimeMs } from "./database.ts";

/** The database's clock at some moment between a query and its answer. */
export type TimeReading = { serverMs: number; askedMs: number; answeredMs: number };

/** This machine's clock compared with the database's. */
type ClockStanding = {
  /**
   * - `unknown`: there was no reading yet; the machine's clock is used.
   * - `agreed`: the two agree.
   * - `machine-off`: the machine's clock is wrong; the database's clock is steady.
   * - `database-off`: the database's clock jumped away from the machine's; the jump is ignored.
   */
  state: "unknown" | "agreed" | "machine-off" | "database-off";
  /** Of the machine's clock; negative if it is behind the database's. */
  aheadMs: number;
};

/** For the log: a new state with `aheadMs`, or a jump of this clock. */
export type ClockChange = { kind: "agreed" | "machine-off" | "database-off" | "jumped"; ms: number };

/**
 * The database's time, computed without a query. All nodes compare leases, deadlines and expiries with it. It is the machine's
 * monotonic time plus a measured offset, so setting the machine's clock does not change it.
 */
export type DatabaseClock = Clock & {
  /** Adjusts the offset and returns what changed; a first reading that agrees changes nothing. */
  observe(reading: TimeReading): ClockChange[];
  standing(): ClockStanding;
};

/** A machine whose clock differs by more is out of service; a larger jump of the database's clock is ignored. */
const clockDifferenceMsMax = 2000;
/** Hysteresis: a machine returns to service below this. */
const returnsBelowMs = 1000;
/** Readings with a longer round trip are too imprecise. */
const roundTripMsMax = 1000;
/** Corrections are slewed: time runs this much faster or slower, so that it neither jumps nor runs backwards. */
const slewRate = 0.1;

export function createDatabaseClock(machine: Clock): DatabaseClock {
  /** From monotonic time to the database's, slewing from one value to another. */
  let offset: Offset | null = null;
  let standing: ClockStanding = { state: "unknown", aheadMs: 0 };

  /**
   * Moves the offset just into the reading's bounds, so that the most precise readings decide. Returns by how much it jumped, or
   * `null` for a jump that only the database's clock shows, which is ignored.
   */
  function adjust(bounds: Bounds, isMachineRight: boolean): number | null {
    const nowMs = machine.monotonicMs();
    const middleMs = (bounds.leastMs + bounds.mostMs) / 2;
    const currentMs = offset === null ? middleMs : readOffset(offset, nowMs);
    const missingMs = -measureDistance(currentMs, bounds);
    if (Math.abs(missingMs) <= clockDifferenceMsMax) {
      offset = { fromMs: currentMs, towardMs: currentMs + missingMs, sinceMs: nowMs };
      return 0;
    }
    if (!isMachineRight) return null;
    offset = { fromMs: middleMs, towardMs: middleMs, sinceMs: nowMs };
    return middleMs - currentMs;
  }

  return {
    monotonicMs: machine.monotonicMs,
    now() {
      if (offset === null) return machine.now();
      const nowMs = machine.monotonicMs();
      return new Date(nowMs + readOffset(offset, nowMs));
    },
    standing: () => standing,
    observe({ serverMs, askedMs, answeredMs }) {
      if (answeredMs - askedMs > roundTripMsMax) return [];
      const { state: before } = standing;
      const bounds = { leastMs: serverMs - answeredMs, mostMs: serverMs - askedMs };
      const aheadMs = measureDistance(machine.now().getTime() - machine.monotonicMs(), bounds);
      const isOut = before === "machine-off" || before === "database-off";
      const isMachineRight = Math.abs(aheadMs) <= (isOut ? returnsBelowMs : clockDifferenceMsMax);
      const jumpedMs = adjust(bounds, isMachineRight);
      const state = isMachineRight ? "agreed" : jumpedMs === null ? "database-off" : "machine-off";
      standing = { state, aheadMs };
      const news: ClockChange[] = [];
      if (jumpedMs !== null && jumpedMs !== 0) news.push({ kind: "jumped", ms: jumpedMs });
      if (state !== before && (isOut || state !== "agreed")) news.push({ kind: state, ms: aheadMs });
      return news;
    },
  };
}

type Offset = { fromMs: number; towardMs: number; sinceMs: number };

function readOffset({ fromMs, towardMs, sinceMs }: Offset, nowMs: number): number {
  const wayMs = towardMs - fromMs;
  const doneMs = (nowMs - sinceMs) * slewRate;
  return Math.abs(wayMs) <= doneMs ? towardMs : fromMs + Math.sign(wayMs) * doneMs;
}

/** The range of offsets that fit a reading; its width is the round trip. */
type Bounds = { leastMs: number; mostMs: number };

/** Zero within the bounds, negative below them. */
function measureDistance(valueMs: number, { leastMs, mostMs }: Bounds): number {
  return Math.max(0, valueMs - mostMs) + Math.min(0, valueMs - leastMs);
}

const readingsCount = 3;

/** The reading with the shortest round trip of several. */
export async function readTime(database: Database): Promise<TimeReading> {
  const readings: TimeReading[] = [];
  for (let count = 0; count < readingsCount; count += 1) {
    const askedMs = systemClock.monotonicMs();
    const serverMs = await readServerTimeMs(database);
    readings.push({ serverMs, askedMs, answeredMs: systemClock.monotonicMs() });
  }
  const measure = ({ askedMs, answeredMs }: TimeReading): number => answeredMs - askedMs;
  return readings.reduce((best, reading) => (measure(reading) < measure(best) ? reading : best));
}

/** `20.0 s ahead of the database's`. */
export function presentDifference(aheadMs: number): string {
  return `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? "behind" : "ahead of"} the database's`;
}
