import { describe, expect, test } from "vitest";
import { createTestClock } from "../../test/harness/test-clock.ts";
import type { ProviderErrorKind } from "./contract.ts";
import { createUpstreamHealth, type UpstreamTarget } from "./upstream-health.ts";

const target: UpstreamTarget = { providerId: "main", upstreamModel: "talk-1", keyNumber: 0 };

function createWorld() {
  const clock = createTestClock();
  const health = createUpstreamHealth({ clock });
  const call = (report: Parameters<typeof health.report>[1], to = target): void => {
    const role = health.begin(to);
    health.report(to, report, role);
  };
  return {
    clock,
    health,
    answer: (to = target): void => call({ kind: "answered" }, to),
    fail: (kind: ProviderErrorKind = "overloaded", retryAfterMs: number | null = null, to = target): void =>
      call({ kind, retryAfterMs }, to),
    waitMs: (): number => health.waitMs(target),
  };
}

/** A target whose circuit has just opened, for the shortest time. */
function createRestingWorld() {
  const world = createWorld();
  for (let failure = 0; failure < 5; failure += 1) world.fail();
  expect(world.waitMs()).toBe(2000);
  return world;
}

describe("a failing target", () => {
  test("is called until it has failed five times within half a minute", () => {
    const { fail, waitMs, health } = createWorld();
    for (let failure = 0; failure < 4; failure += 1) fail();
    expect([waitMs(), health.isWell(target)]).toEqual([0, true]);
    expect(health.list()).toMatchObject([{ ...target, state: "degraded", failures: 4, lastFailure: "overloaded" }]);
    fail("timeout");
    expect([waitMs(), health.isWell(target)]).toEqual([2000, false]);
    expect(health.list()).toMatchObject([{ state: "open", failures: 5, lastFailure: "timeout" }]);
  });

  test("is called while at least half of its calls succeed", () => {
    const { answer, fail, waitMs } = createWorld();
    fail();
    for (let call = 0; call < 9; call += 1) answer();
    for (let failure = 0; failure < 7; failure += 1) fail();
    // Eight of seventeen.
    expect(waitMs()).toBe(0);
    fail();
    expect(waitMs()).toBe(2000);
  });

  test("is not blamed for failures older than half a minute", () => {
    const { clock, fail, waitMs } = createWorld();
    for (let failure = 0; failure < 4; failure += 1) fail();
    clock.advance(30_000);
    fail();
    expect(waitMs()).toBe(0);
  });

  test("is forgotten after a success and half a minute", () => {
    const { clock, answer, fail, health } = createWorld();
    fail();
    clock.advance(29_999);
    answer();
    expect(health.list()).toHaveLength(1);
    clock.advance(1);
    answer();
    expect(health.list()).toEqual([]);
  });

  test("does not affect another model, key or provider", () => {
    const { health } = createRestingWorld();
    for (const other of [{ providerId: "spare" }, { upstreamModel: "talk-2" }, { keyNumber: 1 }]) {
      expect([health.waitMs({ ...target, ...other }), health.isWell({ ...target, ...other })]).toEqual([0, true]);
    }
  });

  test.each<ProviderErrorKind>(["rejected", "content-refused", "too-long"])(
    "is not blamed for a call that was %s",
    (kind) => {
      const { fail, health } = createWorld();
      for (let failure = 0; failure < 20; failure += 1) fail(kind, 60_000);
      expect([health.waitMs(target), health.list(), health.version()]).toEqual([0, [], 0]);
    },
  );

  test.each<ProviderErrorKind>(["overloaded", "timeout", "unreachable", "bad-answer"])(
    "is blamed for calls that were %s",
    (kind) => {
      const { fail, waitMs } = createWorld();
      for (let failure = 0; failure < 5; failure += 1) fail(kind);
      expect(waitMs()).toBe(2000);
    },
  );
});

describe("a circuit opens at once", () => {
  test("for as long as the upstream asks, at most ten minutes", () => {
    const { clock, fail, waitMs } = createWorld();
    fail("rate-limited", 7000);
    expect(waitMs()).toBe(7000);
    clock.advance(6999);
    expect(waitMs()).toBe(1);
    clock.advance(1);
    expect(waitMs()).toBe(0);
    fail("overloaded", 86_400_000);
    expect(waitMs()).toBe(600_000);
  });

  test("for a second after a rate limit without a retry time", () => {
    const { fail, waitMs } = createWorld();
    fail("rate-limited");
    expect(waitMs()).toBe(1000);
  });

  test.each<ProviderErrorKind>(["key-refused", "out-of-credit"])(
    "for a minute after %s, whatever the upstream asks, for all models of the key and no other key",
    (kind) => {
      const { clock, fail, waitMs, health, answer } = createWorld();
      fail(kind, 5);
      expect(waitMs()).toBe(60_000);
      const sibling = { ...target, upstreamModel: "talk-2" };
      expect([health.waitMs(sibling), health.findState(sibling), health.isWell(sibling)]).toEqual([
        60_000,
        "open",
        false,
      ]);
      expect(health.waitMs({ ...target, keyNumber: 1 })).toBe(0);
      expect(health.list()).toMatchObject([
        { providerId: "main", upstreamModel: null, keyNumber: 0, lastFailure: kind },
      ]);
      clock.advance(60_000);
      answer(sibling);
      expect([waitMs(), health.list()]).toEqual([0, []]);
    },
  );

  test.each<ProviderErrorKind>(["quota-exceeded", "model-unavailable", "misconfigured"])(
    "for a minute after %s, for no other model of the key",
    (kind) => {
      const { fail, waitMs, health } = createWorld();
      fail(kind);
      expect([waitMs(), health.waitMs({ ...target, upstreamModel: "talk-2" })]).toEqual([60_000, 0]);
    },
  );

  test("for as long as a quota is used up", () => {
    const { fail, waitMs } = createWorld();
    fail("quota-exceeded", 420_000);
    expect(waitMs()).toBe(420_000);
  });
});

test("an unexplained rejection is noted, and never opens a circuit", () => {
  const { fail, waitMs, health } = createWorld();
  for (let failure = 0; failure < 50; failure += 1) fail("unexplained");
  expect([waitMs(), health.isWell(target)]).toEqual([0, true]);
  expect(health.list()).toMatchObject([{ ...target, state: "degraded", lastFailure: "unexplained" }]);
});

describe("an open circuit", () => {
  test("is probed by one call at a time", () => {
    const { clock, health, waitMs } = createRestingWorld();
    clock.advance(2000);
    expect(waitMs()).toBe(0);
    health.begin(target);
    expect([waitMs(), health.list()[0]?.state]).toEqual([2000, "half-open"]);
    health.report(target, { kind: "answered" }, "probe");
    expect([waitMs(), health.isWell(target), health.list()]).toEqual([0, true, []]);
  });

  test("opens twice as long after each failed probe, up to a minute, and resets after a success", () => {
    const { clock, answer, fail, waitMs } = createRestingWorld();
    const rests = Array.from({ length: 6 }, () => {
      clock.advance(waitMs());
      fail();
      return waitMs();
    });
    expect(rests).toEqual([4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    clock.advance(waitMs());
    answer();
    for (let failure = 0; failure < 5; failure += 1) fail();
    expect(waitMs()).toBe(2000);
  });

  test("is probed by the next call if the probe was abandoned", () => {
    const { clock, health, waitMs } = createRestingWorld();
    clock.advance(2000);
    health.begin(target);
    health.report(target, { kind: "abandoned" }, "probe");
    expect([waitMs(), health.isWell(target)]).toEqual([0, false]);
    health.begin(target);
    expect(waitMs()).toBe(2000);
  });

  test("closes if the probe failed because of the caller: the upstream responded", () => {
    const { clock, fail, health } = createRestingWorld();
    clock.advance(2000);
    fail("rejected");
    expect(health.isWell(target)).toBe(true);
  });

  test("stays open as long as asked, although an earlier call succeeds meanwhile", () => {
    const { health, waitMs } = createWorld();
    health.begin(target);
    health.begin(target);
    health.report(target, { kind: "rate-limited", retryAfterMs: 60_000 }, "usual");
    health.report(target, { kind: "answered" }, "usual");
    expect(waitMs()).toBe(60_000);
  });

  test("has no second probe, although an earlier call is abandoned meanwhile", () => {
    const { clock, health, fail, waitMs } = createWorld();
    health.begin(target);
    fail("rate-limited", 1000);
    clock.advance(1000);
    health.begin(target);
    health.report(target, { kind: "abandoned" }, "usual");
    expect(waitMs()).toBe(2000);
  });

  test("has no second probe, although an earlier call fails meanwhile without a retry time", () => {
    const { clock, health, fail } = createWorld();
    health.begin(target);
    fail("rate-limited", 1000);
    clock.advance(1000);
    health.begin(target);
    health.report(target, { kind: "rate-limited", retryAfterMs: 0 }, "usual");
    expect(health.list()[0]?.state).toBe("half-open");
  });
});

test("the version changes with everything that affects what can be called, and with nothing else", () => {
  const { clock, answer, fail, health } = createWorld();
  const versions = [health.version()];
  const note = (act: () => void): void => {
    act();
    versions.push(health.version());
  };
  note(() => fail());
  note(() => fail("rejected"));
  note(() => fail("rate-limited", 1000));
  clock.advance(1000);
  note(() => health.begin(target));
  note(() => health.report(target, { kind: "abandoned" }, "probe"));
  note(answer);
  expect(versions).toEqual([0, 0, 0, 1, 1, 1, 2]);
});

test("a listed circuit has the wall-clock time until which it is open", () => {
  const { clock, fail, health } = createWorld();
  clock.advance(123);
  fail("rate-limited", 5000);
  clock.advance(1000);
  expect(health.list()).toEqual([
    {
      ...target,
      ...{ state: "open", failures: 1, lastFailure: "rate-limited" },
      openUntil: new Date(clock.now().getTime() + 4000),
    },
  ]);
});

test("the number of remembered targets is bounded", () => {
  const { health, fail } = createWorld();
  for (let keyNumber = 0; keyNumber < 10_001; keyNumber += 1) fail("rate-limited", 9000, { ...target, keyNumber });
  expect(health.list().length).toBeLessThanOrEqual(10_000);
  expect(health.waitMs({ ...target, keyNumber: 10_000 })).toBe(9000);
});

test("a target with a faulty setup is out of service until it is no longer listed", () => {
  const { health, waitMs, clock } = createWorld();
  const fault = {
    code: "missing-secret",
    subject: "MAIN_KEY",
    message: "It is not there.",
    remedy: "Set it.",
  } as const;
  const before = health.version();
  health.setFaults([{ target, fault }]);
  expect(health.version()).toBeGreaterThan(before);
  clock.advance(3_600_000);
  expect([waitMs(), health.isWell(target), health.findFault(target)]).toEqual([60_000, false, fault]);
  expect(health.list()).toMatchObject([{ ...target, state: "open", lastFailure: "missing-secret MAIN_KEY" }]);
  const other = { ...target, keyNumber: 1 };
  expect([health.waitMs(other), health.isWell(other), health.findFault(other)]).toEqual([0, true, null]);
  health.setFaults([]);
  expect([waitMs(), health.isWell(target), health.findFault(target), health.list()]).toEqual([0, true, null, []]);
});

test("a draining target takes only work that was accepted before", () => {
  const { health, waitMs } = createWorld();
  const since = new Date("2026-05-01T12:00:00Z");
  const fault = { code: "draining", subject: "main", message: "", remedy: "", admitsBefore: since } as const;
  health.setFaults([{ target, fault }]);
  expect(waitMs()).toBe(60_000);
  expect(health.waitMsOfAccepted(target, new Date(since.getTime() - 1))).toBe(0);
  expect(health.waitMsOfAccepted(target, since)).toBe(60_000);
  const { admitsBefore: _admitsBefore, ...disabled } = fault;
  health.setFaults([{ target, fault: { ...disabled, code: "disabled" } }]);
  expect(health.waitMsOfAccepted(target, new Date(0))).toBe(60_000);
});

test("a replaced key starts with closed circuits, and other keys keep theirs", () => {
  const { health, fail, waitMs } = createWorld();
  const other = { ...target, keyNumber: 1 };
  fail("key-refused");
  fail("rate-limited", 9000);
  fail("key-refused", null, other);
  health.forgetKey("main", 0);
  expect([waitMs(), health.waitMs(other)]).toEqual([0, 60_000]);
});
