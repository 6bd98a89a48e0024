import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { Caller } from "../../lib/caller.ts";
import { createIdSource } from "../../lib/ids.ts";
import { standardLimits } from "../../lib/limit-set.ts";
import { nano } from "../../lib/money.ts";
import { createRegistry } from "../../lib/registry.ts";
import { environmentSecrets } from "../../platform/config/secrets.ts";
import { createMemoryCounters } from "../../platform/counters/memory-counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createLogger } from "../../platform/observability/logger.ts";
import { createMetrics } from "../../platform/observability/metrics.ts";
import { ProviderError } from "../../providers/contract.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { Claims } from "../idempotency/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CallListener, RunningCall } from "./call-context.ts";
import type { CallKinds, CallMeter, CallPlan, CallSink } from "./paid-endpoint.ts";
import { PaidCall } from "./run-call.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const caller: Caller = {
  ...{ accountId: "acct_1", keyId: "key_1", lineageId: "key_1", planId: null, modelIds: null, budget: null },
  ...{ accountLimits: standardLimits, keyLimits: {}, logsContent: false },
};

/** Usage in units. */
type Kinds = CallKinds & { delta: number; answer: string; reported: number; usage: number };

type World = {
  isPlenty?: boolean;
  isAmple?: boolean;
  isRefused?: boolean;
  /** The ledger does not confirm this operation. */
  lost?: "hold" | "settle";
  isCostKnown?: boolean;
  listener?: CallListener<Kinds> | null;
  /** Overrides the default meter. */
  meter?: Partial<CallMeter<Kinds>>;
  unitsUsual?: number;
};

/** A call with a scripted upstream and ledger, and the steps that it took. */
async function startCall({
  isPlenty = true,
  isAmple = false,
  isRefused = false,
  lost,
  isCostKnown = true,
  listener = null,
  meter: counts = {},
  unitsUsual = 10,
}: World = {}) {
  const steps: string[] = [];
  const { promise: opened, resolve: openHold } = Promise.withResolvers<void>();
  let sink: CallSink<Kinds> | null = null;
  const ledger = {
    estimateSpendable: () => nano(isPlenty ? 1_000n : 0n),
    beginEarly: () => isPlenty,
    hasAmpleReserve: () => isAmple,
    endEarly: () => {},
    async apply({ kind }: { kind: string }) {
      steps.push(kind);
      await opened;
      if (kind === lost) throw new AppError("overloaded", "The payment could not be recorded.");
      if (isRefused) return { kind: "refused", reason: "account-frozen", missing: 0n };
      if (kind === "hold") steps.push("held");
      if (kind === "extend") return { kind: "refused", missing: 1n };
      return kind === "hold" ? { kind: "held", unit: "money" } : { kind: "settled", unit: "money", paid: 1n, lost: 0n };
    },
  } as unknown as Ledger;
  const meter: CallMeter<Kinds> = {
    ...{
      begin: () => {},
      take: (deltas) => deltas.length,
      takeAnswer: (answer) => ({ answer, reported: 1 }),
      written: () => 0,
      writtenMax: () => 0,
    },
    ...{ isComplete: () => false, isPastCap: () => false, isCostKnown: () => isCostKnown },
    conclude(rule, { reported, unitsHeld }) {
      steps.push(rule);
      return { usage: reported ?? unitsHeld, isDue: rule !== "nothing", stoppedBy: null };
    },
    ...counts,
  };
  const plan: CallPlan<Kinds> = {
    ...{ caller, requestId: "req_1", modelId: "talk", meter, tokensLikely: 0, callMs: 1000, headers: {} },
    targets: [
      {
        ...{ providerId: "main", upstreamModel: "talk-1", keyNumber: 0, apiKeyReference: null, placeHash: 0 },
        secrets: environmentSecrets,
        route: { provider: "main", upstream_model: "talk-1", priority: 0, weight: 1 },
        provider: { id: "main", kind: "sandbox" },
      },
    ],
    terms: {
      ...{ priceId: "price_1", isFree: false, unitsMax: 10, unitsUsual, isMetered: unitsUsual < 10, holdMs: 1 },
      quota: { kind: "text", units: 10n },
      price: (units) => nano(BigInt(units)),
      countAffordable: () => unitsUsual,
    },
    presenter: {} as CallPlan<Kinds>["presenter"],
    start(_target, _unitsMax, given) {
      steps.push("call");
      sink = given;
      return { pause: () => {}, resume: () => {}, cancel: () => steps.push("cancel") };
    },
    explain: (cause) => new AppError("upstream_unavailable", "It failed.", { cause }),
    bill: () => ({ priceId: "price_1", per: 1n, minimum: nano(0n), quotaUnits: 1n, items: [] }),
    countTokens: (usage) => ({ input: 0, output: usage }),
    describeUsage: () => ({}),
    describeSpan: () => ({}),
    operation: { name: "chat", outputType: "text" },
  };
  const clock = createTestClock();
  const running = createRegistry<RunningCall>();
  const call = new PaidCall(
    {
      ...{ clock, ledger, running, currency: "USD" },
      ids: createIdSource({ clock, randomBytes }),
      counters: createMemoryCounters({ clock }),
      claims: {} as Claims,
      unchargedCosts: { add: () => {}, close: async () => {} },
      withdrawals: { add: () => steps.push("withdraw"), close: async () => {} },
      drainedCalls: { take: () => () => steps.push("drained"), untilNone: async () => {} },
      notices: { warn: () => {} },
      routing: { health: createUpstreamHealth({ clock }), random: () => 0, clock },
      logger: createLogger({ level: "error", format: "json", write: () => {} }),
      metrics: createMetrics(),
    },
    plan,
  );
  await call.admit(null, undefined);
  call.start({ listener, kept: null });
  return {
    steps,
    call,
    running,
    openHold,
    emit: (send: (sink: CallSink<Kinds>) => void) => sink !== null && send(sink),
  };
}

test("with a large balance the request leaves first, and the hold follows a moment later", async () => {
  const call = await startCall();
  expect(call.steps).toEqual(["call"]);
  vi.advanceTimersByTime(1);
  expect(call.steps).toEqual(["call", "hold"]);
  call.openHold();
  call.emit((sink) => sink.onAnswer("Hi"));
  await call.call.ended;
  expect(call.steps).toEqual(["call", "hold", "if-written", "settle", "held"]);
});

test("a response that is not streamed delays its hold, as long as much of the reserve is unused", async () => {
  const whole = await startCall({ isAmple: true });
  vi.advanceTimersByTime(99);
  expect(whole.steps).toEqual(["call"]);
  vi.advanceTimersByTime(1);
  expect(whole.steps).toEqual(["call", "hold"]);
  const streamed = await startCall({ isAmple: true, listener: silent });
  vi.advanceTimersByTime(1);
  expect(streamed.steps).toEqual(["call", "hold"]);
});

test.each(["hang-up", "failure", "stop"])("a delayed hold is written at once on a %s", async (event) => {
  const call = await startCall({ isAmple: true });
  if (event === "hang-up") call.call.hangUp();
  if (event === "stop") call.call.stop(new AppError("overloaded", "The gateway stops."));
  if (event === "failure") call.emit((sink) => sink.onError(new ProviderError("rejected", "No.")));
  await vi.waitUntil(() => call.steps.includes("hold"));
  expect(call.steps).toEqual(["call", "hold"]);
});

test("with a small balance the request leaves only once the hold is open", async () => {
  const call = await startCall({ isPlenty: false });
  expect(call.steps).toEqual(["hold"]);
  call.openHold();
  await vi.waitUntil(() => call.steps.includes("call"));
  expect(call.steps).toEqual(["hold", "held", "call"]);
});

test("a response before the hold writes hold and charge together, and is delivered after both", async () => {
  const call = await startCall();
  call.emit((sink) => sink.onAnswer("Hi"));
  expect(call.steps).toEqual(["call", "if-written", "hold", "settle"]);
  let isEnded = false;
  const ended = call.call.ended.then(() => {
    isEnded = true;
  });
  await Promise.resolve();
  expect(isEnded).toBe(false);
  call.openHold();
  await ended;
  vi.advanceTimersByTime(10);
  expect(call.steps.filter((step) => step === "hold")).toHaveLength(1);
});

test.each(["hold", "settle"] as const)(
  "if the ledger does not confirm the %s of an undelivered response, its charge is withdrawn",
  async (lost) => {
    const call = await startCall({ lost });
    call.emit((sink) => sink.onAnswer("Hi"));
    call.openHold();
    await expect(call.call.ended).rejects.toMatchObject({ code: "overloaded" });
    expect(call.steps.at(-1)).toBe("withdraw");
  },
);

test("the charge of a delivered stream is not withdrawn", async () => {
  const call = await startCall({ lost: "settle", listener: silent });
  call.openHold();
  call.emit((sink) => sink.onAccepted());
  call.emit((sink) => sink.onPieces([1]));
  call.emit((sink) => sink.onEnd(1));
  await expect(call.call.ended).rejects.toMatchObject({ code: "overloaded" });
  expect(call.steps).not.toContain("withdraw");
});

test("a stream's first data opens the hold, and is delivered once it is open", async () => {
  const received: string[] = [];
  const listener = {
    onAccepted: () => void received.push("accepted"),
    onPieces: () => received.push("pieces") > 0,
    onCut: () => {},
  };
  const call = await startCall({ listener });
  call.emit((sink) => sink.onAccepted());
  call.emit((sink) => sink.onPieces([1]));
  expect(call.steps).toEqual(["call", "hold"]);
  expect(received).toEqual([]);
  call.openHold();
  await vi.waitUntil(() => received.length === 2);
  expect(received).toEqual(["accepted", "pieces"]);
});

const silent: CallListener<Kinds> = { onAccepted: () => {}, onPieces: () => true, onCut: () => {} };

describe("a caller who hangs up before the upstream accepts or rejects", () => {
  test.each([
    ["before the hold is requested", false],
    ["after it is open", true],
  ])("%s pays nothing if the upstream rejects", async (_name, isOpenFirst) => {
    const call = await startCall({ listener: silent });
    if (isOpenFirst) await openHoldNow(call);
    call.call.hangUp();
    call.openHold();
    await vi.waitUntil(() => call.steps.includes("held"));
    expect(call.steps).toEqual(["call", "hold", "held"]);
    call.emit((sink) => sink.onError(new ProviderError("rejected", "No.")));
    await expect(call.call.ended).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(call.steps).toEqual(["call", "hold", "held", "release"]);
    expect(call.running.list()).toEqual([]);
  });

  test.each([
    ["before the hold is requested", false],
    ["after it is open", true],
  ])("%s pays for the input if the upstream accepts", async (_name, isOpenFirst) => {
    const call = await startCall({ listener: silent });
    if (isOpenFirst) await openHoldNow(call);
    call.call.hangUp();
    call.openHold();
    await vi.waitUntil(() => call.steps.includes("held"));
    call.emit((sink) => sink.onAccepted());
    expect(await call.call.ended).toMatchObject({ hasHungUp: true });
    expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle"]);
  });
});

async function openHoldNow(call: Awaited<ReturnType<typeof startCall>>): Promise<void> {
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
}

test("a caller who hangs up while the hold comes first costs no upstream call", async () => {
  const call = await startCall({ isPlenty: false, listener: silent });
  call.call.hangUp();
  call.openHold();
  await call.call.ended;
  expect(call.steps).toEqual(["hold", "held", "nothing", "release"]);
});

/** A streamed call that is authorized and accepted. */
async function startAccepted(world: World = {}) {
  const call = await startCall({ listener: silent, ...world });
  call.openHold();
  call.emit((sink) => sink.onAccepted());
  await vi.waitUntil(() => call.steps.includes("held"));
  return call;
}

test("an upstream of known cost is stopped at a hang-up, and charged", async () => {
  const call = await startAccepted();
  call.call.hangUp();
  expect(await call.call.ended).toMatchObject({ hasHungUp: true });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle"]);
});

test("an upstream of unknown cost is read to its end, and its reported usage charged", async () => {
  const call = await startAccepted({ isCostKnown: false });
  call.call.hangUp();
  call.emit((sink) => sink.onPieces([1]));
  call.emit((sink) => sink.onEnd(900));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 900 });
  expect(call.steps).toEqual(["call", "hold", "held", "reported-or-hold", "settle", "drained"]);
});

test("a whole response is read to its end after a hang-up, and its reported usage charged", async () => {
  const call = await startCall({ isCostKnown: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
  call.call.hangUp();
  call.emit((sink) => sink.onAccepted());
  call.emit((sink) => sink.onAnswer("Hi"));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 1 });
  expect(call.steps).toEqual(["call", "hold", "held", "reported-or-hold", "settle", "drained"]);
});

test("an upstream that accepts after the hang-up is stopped once its cost is known", async () => {
  let isCostKnown = false;
  const call = await startCall({ listener: silent, isCostKnown: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
  call.call.plan.meter.isCostKnown = () => isCostKnown;
  call.call.hangUp();
  expect(call.steps).not.toContain("cancel");
  isCostKnown = true;
  call.emit((sink) => sink.onAccepted());
  expect(await call.call.ended).toMatchObject({ hasHungUp: true });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle", "drained"]);
});

test("a drained call that is stopped by a shutdown costs the whole hold", async () => {
  const call = await startAccepted({ isCostKnown: false });
  call.call.hangUp();
  call.call.stop(new AppError("shutting_down", "The gateway stops."));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 10 });
});

test("a call that is stopped before its first data costs nothing and fails with the reason", async () => {
  const call = await startAccepted();
  call.call.stop(new AppError("shutting_down", "The gateway stops."));
  await expect(call.call.ended).rejects.toMatchObject({ code: "shutting_down" });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "release"]);
});

test("a response whose hold is refused is not delivered", async () => {
  const call = await startCall({ isRefused: true });
  call.emit((sink) => sink.onAnswer("Hi"));
  call.openHold();
  await expect(call.call.ended).rejects.toMatchObject({ code: "account_suspended" });
});

test("data beyond the hold after a complete response is dropped without a loop", async () => {
  let looks = 0;
  const call = await startAccepted({
    unitsUsual: 5,
    meter: {
      written: () => 5,
      writtenMax: () => 5,
      isComplete: () => true,
      take() {
        looks += 1;
        if (looks > 100) throw new Error("The same delta is taken again and again.");
        return 0;
      },
    },
  });
  call.emit((sink) => sink.onPieces([1]));
  await vi.waitUntil(() => call.steps.includes("extend"));
  // The extension is refused; the caller reads on.
  await Promise.resolve();
  call.call.resume();
  call.emit((sink) => sink.onEnd(3));
  expect(await call.call.ended).toMatchObject({ usage: 3, failure: null });
  expect(looks).toBeLessThan(5);
});
