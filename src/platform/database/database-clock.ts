import { type Clock, systemClock } from "../../lib/clock.ts";
import { type Database, readServerTimeMs } from "./database.ts";

/** What the database's clock said at some moment between a question and its answer. */
export type TimeReading = { serverMs: number; askedMs: number; answeredMs: number };

/** How this machine's clock stands to the database's. */
type ClockStanding = {
  /**
   * - `unknown`: the database has not said its time yet, and the machine's own counts.
   * - `agreed`: the two agree.
   * - `machine-off`: the machine's clock is wrong; the database's goes on as it did.
   * - `database-off`: the database's clock has jumped away from the machine's, and is not followed.
   */
  state: "unknown" | "agreed" | "machine-off" | "database-off";
  /** How far the machine's clock is ahead of the database's; negative where it is behind. */
  aheadMs: number;
};

/** For the log: another standing, with how far the machine is ahead; or by how much the time that this clock tells jumped. */
export type ClockNews = { kind: "agreed" | "machine-off" | "database-off" | "jumped"; ms: number };

/**
 * The database's time, told without asking it: what all who share a database compare their leases, deadlines and expiries
 * with. It goes by the machine's monotonic time and a measured offset, so that it does not matter what the machine's
 * clock says or how it is set.
 */
export type DatabaseClock = Clock & {
  /** Takes a reading into account, and tells what is new; that the first one agrees is not. */
  hear(reading: TimeReading): ClockNews[];
  standing(): ClockStanding;
};

/** A machine whose clock differs by more is out of service, and a database whose clock jumps by more is not followed. */
const clockDifferenceMsMax = 2000;
/** Who is out of service returns below this: not in and out at the limit. */
const returnsBelowMs = 1000;
/** A longer round trip says too little. */
const roundTripMsMax = 1000;
/** Corrections are spread: time runs this much faster or slower meanwhile, so that it neither jumps nor goes back. */
const slewRate = 0.1;

export function createDatabaseClock(machine: Clock): DatabaseClock {
  /** Between monotonic time and the database's: on its way from one value to another since a moment. */
  let offset: Offset | null = null;
  let standing: ClockStanding = { state: "unknown", aheadMs: 0 };

  /**
   * Moves by no more than the reading demands, so that of many readings the narrowest count. Answers by how much it jumped;
   * `null` where it would have to jump, and only the database says so.
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
    hear({ serverMs, askedMs, answeredMs }) {
      if (answeredMs - askedMs > roundTripMsMax) return [];
      const { state: before } = standing;
      const bounds = { leastMs: serverMs - answeredMs, mostMs: serverMs - askedMs };
      const aheadMs = measureDistance(machine.now().getTime() - machine.monotonicMs(), bounds);
      const isOut = before === "machine-off" || before === "database-off";
      const isMachineRight = Math.abs(aheadMs) <= (isOut ? returnsBelowMs : clockDifferenceMsMax);
      const jumpedMs = adjust(bounds, isMachineRight);
      const state = isMachineRight ? "agreed" : jumpedMs === null ? "database-off" : "machine-off";
      standing = { state, aheadMs };
      const news: ClockNews[] = [];
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

/** What the offset can have been, as a reading says: its length is the round trip. */
type Bounds = { leastMs: number; mostMs: number };

/** How far a value lies above them, or below with a minus. */
function measureDistance(valueMs: number, { leastMs, mostMs }: Bounds): number {
  return Math.max(0, valueMs - mostMs) + Math.min(0, valueMs - leastMs);
}

const readingsCount = 3;

/** The best of several readings: the one with the shortest round trip. */
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
