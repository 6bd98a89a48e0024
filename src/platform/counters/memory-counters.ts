import type { Clock } from "../../lib/clock.ts";
import type { Counters, LeaseCheck, RateCheck } from "./counters.ts";
import { drainBacklog, hasRoom, presentRate, priceDelta, priceRate, type RateMark } from "./gcra.ts";
import { hasPlace, type LeaseLook, presentLease } from "./lease.ts";
import { createSweptMap } from "./swept-map.ts";

/** The leases of one key. */
type LeaseBook = {
  endsAtUs: Map<string, number>;
  /** No lease ends before this, so until then all of them are live and need not be gone through. */
  earliestEndUs: number;
};

/**
 * Counts in this process only. Beyond `keysMax` rates, or as many keys of leases, a forgotten one starts anew: its
 * caller gets up to one more burst, and nobody is refused for lack of memory.
 */
export function createMemoryCounters(parts: { clock: Clock; keysMax?: number }): Counters {
  const entriesMax = parts.keysMax ?? 100_000;
  const marks = createSweptMap<RateMark>({ entriesMax, isSpent: (mark, nowUs) => drainBacklog(mark, nowUs) === 0 });
  const books = createSweptMap<LeaseBook>({ entriesMax, isSpent: (book, nowUs) => countLive(book, nowUs) === 0 });

  /** Not the time of day: it may be set, and nothing here outlives the process. */
  function readNowUs(): number {
    return Math.floor(parts.clock.monotonicMs() * 1000);
  }

  function keepBacklog(key: string, backlogUs: number, nowUs: number): void {
    const mark = marks.get(key);
    if (mark === undefined) {
      if (backlogUs > 0) marks.add(key, { backlogUs, atUs: nowUs }, nowUs);
      return;
    }
    mark.backlogUs = backlogUs;
    mark.atUs = nowUs;
  }

  function lookAtRate(check: RateCheck, nowUs: number) {
    const price = priceRate(check);
    const mark = marks.get(check.key);
    const backlogUs = mark === undefined ? 0 : drainBacklog(mark, nowUs);
    // After the clock was set back, the time that passes from here on has to count.
    if (mark !== undefined && mark.atUs > nowUs) keepBacklog(check.key, backlogUs, nowUs);
    return { check, price, backlogUs };
  }

  function lookAtLease(check: LeaseCheck, nowUs: number): { check: LeaseCheck; look: LeaseLook } {
    const book = books.get(check.key);
    if (book === undefined) return { check, look: { liveCount: 0, isHeld: false, freeInUs: null } };
    const found = { liveCount: countLive(book, nowUs), isHeld: book.endsAtUs.has(check.leaseId) };
    const freeInUs = hasPlace(found, check.max) ? null : readFreeIn(book, check.max, nowUs);
    return { check, look: { ...found, freeInUs } };
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
    async take(checks) {
      const nowUs = readNowUs();
      marks.sweep(nowUs);
      books.sweep(nowUs);
      const rates = checks.rates.map((check) => lookAtRate(check, nowUs));
      const leases = checks.leases.map((check) => lookAtLease(check, nowUs));
      const isAllowed =
        rates.every(({ backlogUs, price }) => hasRoom(backlogUs, price)) &&
        leases.every(({ check, look }) => hasPlace(look, check.max));
      if (isAllowed) {
        for (const { check, price, backlogUs } of rates) {
          if (price.chargedUs > 0) keepBacklog(check.key, backlogUs + price.chargedUs, nowUs);
        }
        for (const { check } of leases) keepLease(check, nowUs);
      }
      return {
        isAllowed,
        isDegraded: false,
        rates: rates.map(({ check, price, backlogUs }) =>
          presentRate(check.perMinute, price, { backlogUs, isTaken: isAllowed }),
        ),
        leases: leases.map(({ check, look }) => presentLease(check, look, isAllowed)),
      };
    },

    async correct(rate) {
      const nowUs = readNowUs();
      const mark = marks.get(rate.key);
      const backlogUs = mark === undefined ? 0 : drainBacklog(mark, nowUs);
      keepBacklog(rate.key, backlogUs + priceDelta(rate), nowUs);
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

/** How long until so many leases have run out that there are fewer than `max`. */
function readFreeIn(book: LeaseBook, max: number, nowUs: number): number | null {
  const endUs = Float64Array.from(book.endsAtUs.values()).sort()[book.endsAtUs.size - max];
  return endUs === undefined ? null : endUs - nowUs;
}
