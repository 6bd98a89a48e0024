import { duplexPair } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countRuns } from "../../../test/harness/count-runs.ts";
import { hasRedis, type RedisServer, startRedisServer } from "../../../test/harness/servers/redis-server.ts";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { Counters, LeaseCheck, RateCheck } from "./counters.ts";
import { priceCharge } from "./gcra.ts";
import { createMemoryCounters } from "./memory-counters.ts";
import { createRedisCounters } from "./redis-counters.ts";
import { createRemoteCounters } from "./remote-counters.ts";
import { serveCounters } from "./serve-counters.ts";

/** All tests share this clock and the counters; each test uses its own keys. */
const clock = createTestClock();
let keysMade = 0;

function newKey(): string {
  keysMade += 1;
  return `{acct_${keysMade}}:counted`;
}

let redisServer: RedisServer | null = null;

async function openMemory(): Promise<Counters> {
  return createMemoryCounters({ clock });
}

/** Counters of a worker process, kept by its supervisor. */
async function openRemote(): Promise<Counters> {
  const [own, others] = duplexPair();
  serveCounters(createMemoryCounters({ clock }), others);
  return createRemoteCounters({ stream: own, timeoutMs: 30_000 });
}

async function openRedis(): Promise<Counters> {
  redisServer ??= await startRedisServer();
  // These tests check decisions, not latency.
  return createRedisCounters({ url: redisServer.url, clock, timeoutMs: 30_000, onTrouble: rethrow });
}

function rethrow(error: unknown): never {
  throw error;
}

afterAll(async () => {
  await redisServer?.[Symbol.asyncDispose]();
});

const runs = { numRuns: countRuns(60) };
const perMinute = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2_000_000 }));
const smallLimit = fc.integer({ min: 1, max: 60 });
const pauseMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 90_000 }));

type Step =
  | { kind: "take"; rates: { index: number; share: number }[]; leases: { index: number; id: string; ttlMs: number }[] }
  | { kind: "correct"; index: number; share: number }
  | { kind: "renew"; index: number; id: string; ttlMs: number }
  | { kind: "release"; index: number; id: string }
  | { kind: "wait"; milliseconds: number };

const index = fc.integer({ min: 0, max: 2 });
const id = fc.constantFrom("a", "b", "c", "d");
const ttlMs = fc.integer({ min: 1, max: 20_000 });
/** The requested share of a limit; 2 is twice the limit. */
const share = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.6, noNaN: true }), fc.constant(2));
const eachOnce = { selector: ({ index }: { index: number }) => index, maxLength: 3 };

const take: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("take"),
  rates: fc.uniqueArray(fc.record({ index, share }), eachOnce),
  leases: fc.uniqueArray(fc.record({ index, id, ttlMs }), { ...eachOnce, maxLength: 2 }),
});
const otherSteps: fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("correct"), index, share: fc.double({ min: -1, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("renew"), index, id, ttlMs }),
  fc.record({ kind: fc.constant("release"), index, id }),
  fc.record({ kind: fc.constant("wait"), milliseconds: pauseMs }),
];
const steps = fc.array(fc.oneof({ weight: 4, arbitrary: take }, ...otherSteps), {
  minLength: 1,
  maxLength: 40,
  size: "max",
});

/** Three rates and three leases for random sequences of steps. */
type Ground = { keys: string[]; limits: number[]; max: number };

function createGround(limits: number[], max: number): Ground {
  return { keys: [newKey(), newKey(), newKey()], limits, max };
}

function toChecks(step: Step & { kind: "take" }, { keys, limits, max }: Ground) {
  return {
    rates: step.rates.map(({ index, share }): RateCheck => {
      const limit = limits[index] ?? 1;
      return { key: `${keys[index]}:rate`, perMinute: limit, cost: Math.ceil(limit * share) };
    }),
    leases: step.leases.map(
      ({ index, id, ttlMs }): LeaseCheck => ({ key: `${keys[index]}:lease`, max, leaseId: id, ttlMs }),
    ),
  };
}

async function doOther(counters: Counters, step: Exclude<Step, { kind: "take" }>, ground: Ground): Promise<void> {
  const { keys, limits } = ground;
  if (step.kind === "wait") return;
  const key = `${keys[step.index]}:lease`;
  if (step.kind === "renew") return await counters.renew({ key, leaseId: step.id, ttlMs: step.ttlMs });
  if (step.kind === "release") return await counters.release([{ key, leaseId: step.id }]);
  const limit = limits[step.index] ?? 1;
  const delta = Math.round(limit * step.share);
  await counters.correct({ key: `${keys[step.index]}:rate`, perMinute: limit, delta });
}

const grounds = fc.record({
  limits: fc.array(perMinute, { minLength: 3, maxLength: 3 }),
  max: fc.integer({ min: 0, max: 3 }),
});

async function takeRate(counters: Counters, check: RateCheck) {
  const decision = await counters.take({ rates: [check], leases: [] });
  const [state] = decision.rates;
  if (state === undefined) throw new Error("The decision says nothing of the rate.");
  return { isAllowed: decision.isAllowed, ...state };
}

async function takeLease(counters: Counters, check: LeaseCheck) {
  const decision = await counters.take({ rates: [], leases: [check] });
  const [state] = decision.leases;
  if (state === undefined) throw new Error("The decision says nothing of the lease.");
  return { isAllowed: decision.isAllowed, ...state };
}

async function countPassing(counters: Counters, check: RateCheck): Promise<number> {
  for (let count = 0; ; count += 1) if (!(await takeRate(counters, check)).isAllowed) return count;
}

describeGuarantees("in memory", openMemory);
describeGuarantees("in another process", openRemote);
describe.skipIf(!hasRedis)("with Redis", () => describeGuarantees("in Redis", openRedis));

function describeGuarantees(where: string, open: () => Promise<Counters>): void {
  describe(where, () => {
    let counters: Counters;
    beforeAll(async () => {
      counters = await open();
    });
    afterAll(() => counters.close());

    test("no interval admits more than the burst of one minute plus its refill", async () => {
      const arrivals = fc.array(fc.record({ afterMs: pauseMs, share: fc.double({ min: 0, max: 1, noNaN: true }) }), {
        maxLength: 40,
        size: "max",
      });
      await fc.assert(
        fc.asyncProperty(perMinute, arrivals, async (limit, asked) => {
          const key = newKey();
          const passed: { atMs: number; cost: number }[] = [];
          for (const { afterMs, share } of asked) {
            clock.advance(afterMs);
            const cost = Math.ceil(limit * share);
            const { isAllowed } = await takeRate(counters, { key, perMinute: limit, cost });
            if (isAllowed) passed.push({ atMs: clock.monotonicMs(), cost });
          }
          const unitUs = priceCharge({ perMinute: limit, cost: 1 });
          for (const [first, { atMs: fromMs }] of passed.entries()) {
            let sum = 0;
            for (const { atMs, cost } of passed.slice(first)) {
              sum += cost;
              expect(sum * unitUs).toBeLessThanOrEqual(limit * unitUs + (atMs - fromMs) * 1000);
            }
          }
        }),
        runs,
      );
    });

    test("a rejected take does not change later decisions", async () => {
      await fc.assert(
        fc.asyncProperty(grounds, steps, async ({ limits, max }, sequence) => {
          const [all, passedOnly] = [createGround(limits, max), createGround(limits, max)];
          for (const step of sequence) {
            if (step.kind === "wait") clock.advance(step.milliseconds);
            if (step.kind === "take") {
              const decision = await counters.take(toChecks(step, all));
              if (decision.isAllowed) expect(await counters.take(toChecks(step, passedOnly))).toEqual(decision);
            } else {
              for (const ground of [all, passedOnly]) await doOther(counters, step, ground);
            }
          }
        }),
        runs,
      );
    });

    test("the retry delay suffices, and one millisecond less does not", async () => {
      const uses = fc.array(fc.record({ afterMs: pauseMs, share }), { minLength: 1, maxLength: 10 });
      await fc.assert(
        fc.asyncProperty(perMinute, uses, fc.double({ min: 0.01, max: 3, noNaN: true }), async (limit, used, last) => {
          const key = newKey();
          for (const { afterMs, share } of used) {
            clock.advance(afterMs);
            await takeRate(counters, { key, perMinute: limit, cost: Math.ceil(limit * share) });
          }
          const check = { key, perMinute: limit, cost: Math.ceil(limit * last) };
          // Take until a request is rejected.
          let refusal = await takeRate(counters, check);
          while (refusal.isAllowed) refusal = await takeRate(counters, check);
          expect(refusal.retryAfterMs).toBeGreaterThan(0);
          clock.advance(refusal.retryAfterMs - 1);
          expect(await takeRate(counters, check)).toMatchObject({ isAllowed: false, retryAfterMs: 1 });
          clock.advance(1);
          expect(await takeRate(counters, check)).toMatchObject({ isAllowed: true, retryAfterMs: 0 });
        }),
        runs,
      );
    });

    test("exactly the remaining units pass, and all are back at the reset time", async () => {
      const uses = fc.array(fc.record({ afterMs: pauseMs, cost: fc.integer({ min: 0, max: 70 }) }), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(smallLimit, uses, async (limit, used) => {
          const key = newKey();
          for (const { afterMs, cost } of used) {
            clock.advance(afterMs);
            await takeRate(counters, { key, perMinute: limit, cost });
          }
          const unit = { key, perMinute: limit, cost: 1 };
          const { remaining } = await takeRate(counters, { ...unit, cost: 0 });
          expect(await countPassing(counters, unit)).toBe(remaining);
          const { resetMs } = await takeRate(counters, { ...unit, cost: 0 });
          clock.advance(resetMs - 1);
          expect((await takeRate(counters, { ...unit, cost: 0 })).resetMs).toBe(1);
          clock.advance(1);
          expect(await takeRate(counters, { ...unit, cost: 0 })).toMatchObject({ remaining: limit, resetMs: 0 });
          expect(await countPassing(counters, unit)).toBe(limit);
        }),
        runs,
      );
    });

    test("a corrected estimate equals taking the actual number", async () => {
      const cost = fc.integer({ min: 0, max: 2000 });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 2000 }), cost, cost, async (limit, estimated, actual) => {
          const [corrected, direct] = [newKey(), newKey()];
          await takeRate(counters, { key: corrected, perMinute: limit, cost: estimated });
          await counters.correct({ key: corrected, perMinute: limit, delta: actual - estimated });
          await takeRate(counters, { key: direct, perMinute: limit, cost: actual });
          const look = (key: string) => takeRate(counters, { key, perMinute: limit, cost: 0 });
          expect(await look(corrected)).toEqual(await look(direct));
        }),
        runs,
      );
    });

    test("a correction releases at most the used units", async () => {
      const unit = { key: newKey(), perMinute: 10, cost: 1 };
      await takeRate(counters, { ...unit, cost: 3 });
      await counters.correct({ ...unit, delta: -1000 });
      await counters.correct({ ...unit, key: newKey(), delta: -1000 });
      expect(await countPassing(counters, unit)).toBe(10);
    });

    test("a cost above the limit passes once, and its whole debt must be repaid", async () => {
      const huge = { key: newKey(), perMinute: 10, cost: 100 };
      expect(await takeRate(counters, huge)).toMatchObject({ isAllowed: true, remaining: 0, resetMs: 600_000 });
      expect(await takeRate(counters, { ...huge, cost: 1 })).toMatchObject({ isAllowed: false, retryAfterMs: 546_000 });
      expect(await takeRate(counters, huge)).toMatchObject({ isAllowed: false, retryAfterMs: 600_000 });
    });

    test("a clock set back neither blocks callers nor refunds units", async () => {
      const backMs = fc.integer({ min: 1, max: 100_000_000 });
      await fc.assert(
        fc.asyncProperty(smallLimit, fc.integer({ min: 1, max: 70 }), backMs, async (limit, cost, milliseconds) => {
          const check = { key: newKey(), perMinute: limit, cost: 0 };
          const { remaining, resetMs } = await takeRate(counters, { ...check, cost });
          clock.advance(-milliseconds);
          expect(await takeRate(counters, check)).toMatchObject({ remaining, resetMs });
          expect(await countPassing(counters, { ...check, cost: 1 })).toBe(remaining);
          const afterwards = await takeRate(counters, check);
          clock.advance(afterwards.resetMs);
          expect(await takeRate(counters, check)).toMatchObject({ remaining: limit, resetMs: 0 });
        }),
        runs,
      );
    });

    test("a caller rejected after the clock was set back is admitted later", async () => {
      const unit = { key: newKey(), perMinute: 10, cost: 1 };
      expect(await countPassing(counters, unit)).toBe(10);
      clock.advance(-3_600_000);
      expect(await takeRate(counters, unit)).toMatchObject({ isAllowed: false, retryAfterMs: 6000 });
      clock.advance(6000);
      expect(await countPassing(counters, unit)).toBe(1);
    });

    test("leases never exceed the maximum, and are freed by expiry or release", async () => {
      const lockstep = fc.array(fc.oneof({ weight: 3, arbitrary: take }, ...otherSteps.slice(1)), {
        maxLength: 40,
        size: "max",
      });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 3 }), lockstep, async (max, sequence) => {
          const key = newKey();
          const heldUntil = new Map<string, number>();
          const findEnd = (id: string): number => heldUntil.get(id) ?? Number.NEGATIVE_INFINITY;
          for (const step of sequence) {
            if (step.kind === "wait") clock.advance(step.milliseconds);
            const now = clock.monotonicMs();
            if (step.kind === "take") {
              const { id, ttlMs } = step.leases[0] ?? { id: "a", ttlMs: 1000 };
              const live = [...heldUntil.values()].filter((end) => end > now).length;
              const isHeld = findEnd(id) > now;
              const isAllowed = isHeld || live < max;
              const remaining = max - live - (isAllowed && !isHeld ? 1 : 0);
              expect(await takeLease(counters, { key, max, leaseId: id, ttlMs })).toMatchObject({
                isAllowed,
                remaining,
              });
              if (isAllowed) heldUntil.set(id, now + ttlMs);
            } else if (step.kind === "renew") {
              await counters.renew({ key, leaseId: step.id, ttlMs: step.ttlMs });
              if (findEnd(step.id) > now) heldUntil.set(step.id, now + step.ttlMs);
            } else if (step.kind === "release") {
              // Twice, because a second release must not free another caller's lease.
              await counters.release([{ key, leaseId: step.id }]);
              await counters.release([{ key, leaseId: step.id }]);
              heldUntil.delete(step.id);
            }
          }
        }),
        runs,
      );
    });

    test("releasing an unknown lease id frees nothing", async () => {
      const lease = { key: newKey(), max: 1, leaseId: "mine", ttlMs: 1000 };
      await takeLease(counters, lease);
      await counters.release([
        { key: lease.key, leaseId: "yours" },
        { key: newKey(), leaseId: "mine" },
      ]);
      expect((await takeLease(counters, { ...lease, leaseId: "other" })).isAllowed).toBe(false);
    });

    test("one release frees several leases", async () => {
      const leases = [newKey(), newKey()].map((key) => ({ key, max: 1, leaseId: "one", ttlMs: 1000 }));
      const others = leases.map((lease) => ({ ...lease, leaseId: "other" }));
      await counters.take({ rates: [], leases });
      expect(await counters.take({ rates: [], leases: others })).toMatchObject({ isAllowed: false });
      await counters.release(leases);
      expect(await counters.take({ rates: [], leases: others })).toMatchObject({ isAllowed: true });
    });

    test("a rejected lease returns when enough others expire, also after the maximum was lowered", async () => {
      const ends = fc.uniqueArray(fc.integer({ min: 2, max: 60_000 }), { minLength: 3, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(ends, fc.integer({ min: 1, max: 3 }), async (ttls, max) => {
          const key = newKey();
          for (const ttlMs of ttls) await takeLease(counters, { key, max: 6, leaseId: String(ttlMs), ttlMs });
          const check = { key, max, leaseId: "one more", ttlMs: 1000 };
          const { isAllowed, retryAfterMs } = await takeLease(counters, check);
          expect(isAllowed).toBe(false);
          clock.advance(retryAfterMs - 1);
          expect(await takeLease(counters, check)).toMatchObject({ isAllowed: false, retryAfterMs: 1 });
          clock.advance(1);
          expect(await takeLease(counters, check)).toMatchObject({ isAllowed: true, retryAfterMs: 0 });
        }),
        runs,
      );
    });

    test("a limit of zero admits nothing", async () => {
      expect(await takeRate(counters, { key: newKey(), perMinute: 0, cost: 1 })).toMatchObject({ isAllowed: false });
      expect(await takeLease(counters, { key: newKey(), max: 0, leaseId: "a", ttlMs: 5000 })).toEqual({
        isAllowed: false,
        limit: 0,
        remaining: 0,
        resetMs: 0,
        retryAfterMs: 5000,
      });
    });

    test("a take without checks passes", async () => {
      expect(await counters.take({ rates: [], leases: [] })).toEqual({
        isAllowed: true,
        isDegraded: false,
        rates: [],
        leases: [],
      });
    });
  });
}

describe.skipIf(!hasRedis)("memory and Redis", () => {
  let both: readonly [Counters, Counters];
  beforeAll(async () => {
    both = [await openMemory(), await openRedis()];
  });
  afterAll(async () => {
    await Promise.all(both.map((counters) => counters.close()));
  });

  test("make identical decisions for random sequences", async () => {
    await fc.assert(
      fc.asyncProperty(grounds, steps, async ({ limits, max }, sequence) => {
        const ground = createGround(limits, max);
        const [memory, redis] = both;
        for (const step of sequence) {
          if (step.kind === "wait") clock.advance(step.milliseconds);
          if (step.kind === "take") {
            const checks = toChecks(step, ground);
            expect(await redis.take(checks)).toEqual(await memory.take(checks));
          } else {
            for (const counters of both) await doOther(counters, step, ground);
          }
        }
      }),
      { numRuns: countRuns(150) },
    );
  });
});
