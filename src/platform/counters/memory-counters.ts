import type { Clock } from "../../lib/clock.ts";
import type { Counters, LeaseCheck, LeaseState, RateCheck, RateState } from "./counters.ts";
import { drainBacklog, hasRoom, presentRate, priceCharge, priceDelta, type RateMark } from "./gcra.ts";
import { hasFreeLease, type LeaseSnapshot, presentLease } from "./lease.ts";
import { createSweptMap } from "./swept-map.ts";

/** The leases of one key. */
type LeaseBook = {
  endsAtUs: Map<string, number>;
  /** No lease ends before this, so until then no scan is needed. */
  earliestEndUs: number;
};

/**
 * Counts in this process only. Beyond `keysMax` keys, the oldest entry is evicted: its caller gets up to one extra burst,
 * and no request is rejected for lack of memory.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one set of counters; its functions share it.
export function createMemoryCounters(options: { clock: Clock; keysMax?: number }): Counters {
  const entriesMax = options.keysMax ?? 100_000;
  const marks = createSweptMap<RateMark>({ entriesMax, isSpent: (mark, nowUs) => drainBacklog(mark, nowUs) === 0 });
  const books = createSweptMap<LeaseBook>({ entriesMax, isSpent: (book, nowUs) => countLive(book, nowUs) === 0 });

  /** Monotonic: the wall clock may be set, and nothing here outlives the process. */
  function readNowUs(): number {
    return Math.floor(options.clock.monotonicMs() * 1000);
  }

  /** Drains the mark's backlog up to now. */
  function findMark(key: string, nowUs: number): RateMark | undefined {
    const mark = marks.get(key);
    if (mark !== undefined) {
      mark.backlogUs = drainBacklog(mark, nowUs);
      mark.atUs = nowUs;
    }
    return mark;
  }

  /** Returns the backlog before the addition. */
  function addBacklog(key: string, addedUs: number, nowUs: number): number {
    const mark = findMark(key, nowUs);
    if (mark === undefined) {
      if (addedUs > 0) marks.add(key, { backlogUs: addedUs, atUs: nowUs }, nowUs);
      return 0;
    }
    const foundUs = mark.backlogUs;
    mark.backlogUs += addedUs;
    return foundUs;
  }

  function allowsAll(rates: readonly RateCheck[], leases: readonly LeaseCheck[], nowUs: number): boolean {
    for (const check of rates) if (!hasRoom(check, findMark(check.key, nowUs)?.backlogUs ?? 0)) return false;
    for (const check of leases) if (!allowsLease(check, nowUs)) return false;
    return true;
  }

  function allowsLease({ key, leaseId, max }: LeaseCheck, nowUs: number): boolean {
    const book = books.get(key);
    if (book === undefined) return max > 0;
    return hasFreeLease({ liveCount: countLive(book, nowUs), isHeld: book.endsAtUs.has(leaseId) }, max);
  }

  function endRate(check: RateCheck, isTaken: boolean, nowUs: number): RateState {
    return presentRate(check, addBacklog(check.key, isTaken ? priceCharge(check) : 0, nowUs), isTaken);
  }

  function endLease(check: LeaseCheck, isTaken: boolean, nowUs: number): LeaseState {
    const found = readLease(check, nowUs);
    if (isTaken) keepLease(check, nowUs);
    return presentLease(check, found, isTaken);
  }

  function readLease({ key, leaseId, max }: LeaseCheck, nowUs: number): LeaseSnapshot {
    const book = books.get(key);
    if (book === undefined) return { liveCount: 0, isHeld: false, freeInUs: null };
    const liveCount = countLive(book, nowUs);
    const isHeld = book.endsAtUs.has(leaseId);
    const freeInUs = hasFreeLease({ liveCount, isHeld }, max) ? null : readFreeIn(book, max, nowUs);
    return { liveCount, isHeld, freeInUs };
  }

  function keepLease({ key, leaseId, ttlMs }: Omit<LeaseCheck, "max">, nowUs: number): void {
    const endUs = nowUs + ttlMs * 1000;
    const book = books.get(key);
    if (book === undefined) {
      books.add(key, { endsAtUs: new Map([[leaseId, endUs]]), earliestEndUs: endUs }, nowUs);
      return;
    }
    book.endsAtUs.set(leaseId, endUs);
    book.earliestEndUs = Math.min(book.earliestEndUs, endUs);
  }

  return {
    async take({ rates, leases }) {
      const nowUs = readNowUs();
      marks.sweep(nowUs);
      books.sweep(nowUs);
      const isAllowed = allowsAll(rates, leases, nowUs);
      // Hot path: `map` would allocate 400 bytes more per call.
      const rateStates = new Array<RateState>(rates.length);
      const leaseStates = leases.length === 0 ? noLeaseStates : new Array<LeaseState>(leases.length);
      let index = 0;
      for (const check of rates) rateStates[index++] = endRate(check, isAllowed, nowUs);
      index = 0;
      for (const check of leases) leaseStates[index++] = endLease(check, isAllowed, nowUs);
      return { isAllowed, isDegraded: false, rates: rateStates, leases: leaseStates };
    },

    async correct(rate) {
      addBacklog(rate.key, priceDelta(rate), readNowUs());
    },

    async renew(lease) {
      const nowUs = readNowUs();
      const endUs = books.get(lease.key)?.endsAtUs.get(lease.leaseId);
      if (endUs !== undefined && endUs > nowUs) keepLease(lease, nowUs);
    },

    async release(leases) {
      for (const { key, leaseId } of leases) books.get(key)?.endsAtUs.delete(leaseId);
    },

    async close() {},
  };
}

const noLeaseStates: LeaseState[] = [];

function countLive(book: LeaseBook, nowUs: number): number {
  if (nowUs >= book.earliestEndUs) {
    book.earliestEndUs = Number.POSITIVE_INFINITY;
    for (const [leaseId, endUs] of book.endsAtUs) {
      if (endUs <= nowUs) book.endsAtUs.delete(leaseId);
      else book.earliestEndUs = Math.min(book.earliestEndUs, endUs);
    }
  }
  return book.endsAtUs.size;
}

/** Time until fewer than `max` leases are live. */
function readFreeIn(book: LeaseBook, max: number, nowUs: number): number | null {
  const endUs = Float64Array.from(book.endsAtUs.values()).sort()[book.endsAtUs.size - max];
  return endUs === undefined ? null : endUs - nowUs;
}
