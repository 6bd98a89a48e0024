import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClockChange, createDatabaseClock, presentDifference } from "./database-clock.ts";

const noon = Date.parse("2026-03-01T12:00:00Z");

/** A machine and a database whose clocks can be set, and a clock on the machine that follows the database. */
function createWorld({ machineAheadMs = 0 } = {}) {
  let elapsedMs = 5000;
  let aheadMs = machineAheadMs;
  let serverAheadMs = 0;
  const clock = createDatabaseClock({
    now: () => new Date(noon + elapsedMs + aheadMs),
    monotonicMs: () => elapsedMs,
  });
  const readServer = (): number => noon + elapsedMs + serverAheadMs;
  return {
    clock,
    setMachine(ms: number): void {
      aheadMs = ms;
    },
    setServer(ms: number): void {
      serverAheadMs = ms;
    },
    pass(ms: number): void {
      elapsedMs += ms;
    },
    /** The machine sleeps: its monotonic time stands still, and all clocks go on. */
    sleep(ms: number): void {
      aheadMs += ms;
      serverAheadMs += ms;
    },
    /** Asks the database, which answers after the first part of the round trip. */
    measure({ thereMs = 1, backMs = 1 } = {}): ClockChange[] {
      const askedMs = elapsedMs;
      elapsedMs += thereMs;
      const serverMs = readServer();
      elapsedMs += backMs;
      return clock.observe({ serverMs, askedMs, answeredMs: elapsedMs });
    },
    /** How far the clock is ahead of the database's. */
    error: () => clock.now().getTime() - readServer(),
  };
}

describe("the database's time", () => {
  test("is the machine's until the first reading", () => {
    const { clock } = createWorld({ machineAheadMs: 7000 });
    expect(clock.now()).toEqual(new Date(noon + 12_000));
    expect(clock.standing()).toEqual({ state: "unknown", aheadMs: 0 });
  });

  test.each([20_000, -20_000, 7_200_000, -7_200_000])("is right on a machine whose clock is %i ms off", (aheadMs) => {
    const world = createWorld({ machineAheadMs: aheadMs });
    expect(world.measure()).toEqual([{ kind: "machine-off", ms: expect.closeTo(aheadMs, -1) }]);
    expect(Math.abs(world.error())).toBeLessThanOrEqual(1);
    expect(world.measure()).toEqual([]);
    world.setMachine(0);
    expect(world.measure()).toEqual([{ kind: "agreed", ms: 0 }]);
    expect(Math.abs(world.error())).toBeLessThanOrEqual(1);
  });

  test("does not change when the machine's clock is set", () => {
    const world = createWorld();
    world.measure();
    const before = world.clock.now().getTime();
    world.setMachine(-3_600_000);
    expect(world.clock.now().getTime()).toBe(before);
    expect(world.measure()).toMatchObject([{ kind: "machine-off" }]);
    expect(world.clock.now().getTime() - before).toBe(2);
  });

  test("is as precise as the shortest round trip, and neither runs backwards nor jumps", () => {
    const trip = fc.record({ thereMs: fc.nat(400), backMs: fc.nat(400), pauseMs: fc.nat(1000) });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 1 }), fc.integer({ min: -1900, max: 1900 }), (trips, stepMs) => {
        const world = createWorld();
        world.measure();
        world.setServer(stepMs);
        let shortestMs = Number.POSITIVE_INFINITY;
        for (const { pauseMs, ...way } of trips) {
          const before = world.clock.now().getTime();
          world.measure(way);
          world.pass(pauseMs);
          const ranMs = world.clock.now().getTime() - before;
          const passedMs = way.thereMs + way.backMs + pauseMs;
          expect(ranMs).toBeGreaterThanOrEqual(Math.floor(passedMs * 0.9) - 1);
          expect(ranMs).toBeLessThanOrEqual(Math.ceil(passedMs * 1.1) + 1);
          shortestMs = Math.min(shortestMs, way.thereMs + way.backMs);
        }
        // A correction takes ten times its length.
        for (let count = 0; count < 30; count += 1) {
          world.measure({ thereMs: 0, backMs: shortestMs });
          world.pass(1000);
        }
        expect(Math.abs(world.error())).toBeLessThanOrEqual(shortestMs + 1);
      }),
    );
  });

  test("ignores readings with a long round trip", () => {
    const world = createWorld();
    expect(world.measure({ thereMs: 10, backMs: 2000 })).toEqual([]);
    expect(world.clock.standing().state).toBe("unknown");
  });

  test("ignores a jump that only the database's clock shows", () => {
    const world = createWorld();
    world.measure();
    const before = world.clock.now().getTime();
    world.setServer(3_600_000);
    expect(world.measure()).toEqual([{ kind: "database-off", ms: expect.closeTo(-3_600_000, -1) }]);
    expect(world.clock.now().getTime() - before).toBe(2);
    world.setServer(0);
    expect(world.measure()).toEqual([{ kind: "agreed", ms: 0 }]);
    expect(Math.abs(world.error())).toBeLessThanOrEqual(1);
  });

  test("jumps with the database's clock if the machine's agrees, as after a sleep", () => {
    const world = createWorld();
    world.measure();
    world.sleep(3_600_000);
    expect(world.measure()).toEqual([{ kind: "jumped", ms: expect.closeTo(3_600_000, -1) }]);
    expect(Math.abs(world.error())).toBeLessThanOrEqual(1);
    expect(world.clock.standing().state).toBe("agreed");
  });

  test("has hysteresis: a difference at the limit does not flip a machine in and out of service", () => {
    const world = createWorld();
    world.measure();
    const news = [1900, 2100, 1900, 1100, 2100, 900].map((ms) => {
      world.setMachine(ms);
      return world.measure().map(({ kind }) => kind);
    });
    expect(news).toEqual([[], ["machine-off"], [], [], [], ["agreed"]]);
  });
});

test.each([
  [20_049, "20.0 s ahead of the database's"],
  [-7_200_000, "7200.0 s behind the database's"],
])("%i ms are %s", (aheadMs, text) => {
  expect(presentDifference(aheadMs)).toBe(text);
});
