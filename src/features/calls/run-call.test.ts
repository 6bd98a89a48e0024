import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { Caller } from "../../lib/caller.ts";
import { createIdSource } from "../../lib/ids.ts";
import { standardLimits } from "../../lib/limit-set.ts";
import { nano } from "../../lib/money.ts";
import { createRegistry } from "../../lib/registry.ts";
import { createMemoryCounters } from "../../platform/counters/memory-counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createLogger } from "../../platform/observability/logger.ts";
import { createMetrics } from "../../platform/observability/metrics.ts";
import { ProviderError } from "../../providers/contract.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { Claims } from "../idempotency/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CallKinds, CallMeter, CallPlan, CallSink } from "./paid-endpoint.ts";
import { type CallListener, PaidCall, type RunningCall } from "./run-call.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const caller: Caller = {
  ...{ accountId: "acct_1", keyId: "key_1", lineageId: "key_1", planId: null, modelIds: null, budget: null },
  ...{ accountLimits: standardLimits, keyLimits: {}, logsContent: false },
};

/** Units, where an upstream reported some or all of them. */
type Kinds = CallKinds & { delta: number; answer: string; reported: number; usage: number };

type World = {
  isPlenty?: boolean;
  isRefused?: boolean;
  /** The ledger cannot say what became of this operation. */
  lost?: "hold" | "settle";
  isCostKnown?: boolean;
  listener?: CallListener<Kinds> | null;
  /** Counted in place of what else is counted, and paid for in part. */
  meter?: Partial<CallMeter<Kinds>>;
  unitsUsual?: number;
};

/** A call whose upstream and ledger do what the test says, and what happened in it, in order. */
async function startCall({
  isPlenty = true,
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
  return { steps, call, running, openHold, tell: (say: (sink: CallSink<Kinds>) => void) => sink !== null && say(sink) };
}

test("where money is plenty the request leaves first, and its hold is written a moment later", async () => {
  const call = await startCall();
  expect(call.steps).toEqual(["call"]);
  vi.advanceTimersByTime(1);
  expect(call.steps).toEqual(["call", "hold"]);
  call.openHold();
  call.tell((sink) => sink.onAnswer("Hi"));
  await call.call.ended;
  expect(call.steps).toEqual(["call", "hold", "if-written", "settle", "held"]);
});

test("where it is not, nothing leaves before the hold is there", async () => {
  const call = await startCall({ isPlenty: false });
  expect(call.steps).toEqual(["hold"]);
  call.openHold();
  await vi.waitUntil(() => call.steps.includes("call"));
  expect(call.steps).toEqual(["hold", "held", "call"]);
});

test("an answer that comes before the hold asks for both at once, and is told when both are there", async () => {
  const call = await startCall();
  call.tell((sink) => sink.onAnswer("Hi"));
  expect(call.steps).toEqual(["call", "if-written", "hold", "settle"]);
  let isTold = false;
  const told = call.call.ended.then(() => {
    isTold = true;
  });
  await Promise.resolve();
  expect(isTold).toBe(false);
  call.openHold();
  await told;
  vi.advanceTimersByTime(10);
  expect(call.steps.filter((step) => step === "hold")).toHaveLength(1);
});

test.each(["hold", "settle"] as const)(
  "where nobody knows what became of the %s of an answer that cannot be given, its charge is withdrawn",
  async (lost) => {
    const call = await startCall({ lost });
    call.tell((sink) => sink.onAnswer("Hi"));
    call.openHold();
    await expect(call.call.ended).rejects.toMatchObject({ code: "overloaded" });
    expect(call.steps.at(-1)).toBe("withdraw");
  },
);

test("what a stream's caller has had is not withdrawn", async () => {
  const call = await startCall({ lost: "settle", listener: silent });
  call.openHold();
  call.tell((sink) => sink.onAccepted());
  call.tell((sink) => sink.onPieces([1]));
  call.tell((sink) => sink.onEnd(1));
  await expect(call.call.ended).rejects.toMatchObject({ code: "overloaded" });
  expect(call.steps).not.toContain("withdraw");
});

test("a stream's first word asks for the hold, and is heard when it is there", async () => {
  const heard: string[] = [];
  const listener = {
    onAccepted: () => void heard.push("accepted"),
    onPieces: () => heard.push("pieces") > 0,
    onCut: () => {},
  };
  const call = await startCall({ listener });
  call.tell((sink) => sink.onAccepted());
  call.tell((sink) => sink.onPieces([1]));
  expect(call.steps).toEqual(["call", "hold"]);
  expect(heard).toEqual([]);
  call.openHold();
  await vi.waitUntil(() => heard.length === 2);
  expect(heard).toEqual(["accepted", "pieces"]);
});

const silent: CallListener<Kinds> = { onAccepted: () => {}, onPieces: () => true, onCut: () => {} };

describe("a caller who hangs up before the upstream's verdict", () => {
  test.each([
    ["before the hold was asked for", false],
    ["after it is open", true],
  ])("%s pays nothing if the upstream rejects", async (_name, isOpenFirst) => {
    const call = await startCall({ listener: silent });
    if (isOpenFirst) await openHoldNow(call);
    call.call.hangUp();
    call.openHold();
    await vi.waitUntil(() => call.steps.includes("held"));
    expect(call.steps).toEqual(["call", "hold", "held"]);
    call.tell((sink) => sink.onError(new ProviderError("rejected", "No.")));
    await expect(call.call.ended).rejects.toMatchObject({ code: "upstream_unavailable" });
    expect(call.steps).toEqual(["call", "hold", "held", "release"]);
    expect(call.running.list()).toEqual([]);
  });

  test.each([
    ["before the hold was asked for", false],
    ["after it is open", true],
  ])("%s pays for the input if the upstream accepts", async (_name, isOpenFirst) => {
    const call = await startCall({ listener: silent });
    if (isOpenFirst) await openHoldNow(call);
    call.call.hangUp();
    call.openHold();
    await vi.waitUntil(() => call.steps.includes("held"));
    call.tell((sink) => sink.onAccepted());
    expect(await call.call.ended).toMatchObject({ hasHungUp: true });
    expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle"]);
  });
});

async function openHoldNow(call: Awaited<ReturnType<typeof startCall>>): Promise<void> {
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
}

test("one who goes while the hold comes first is never served", async () => {
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
  call.tell((sink) => sink.onAccepted());
  await vi.waitUntil(() => call.steps.includes("held"));
  return call;
}

test("an upstream whose cost is known is stopped at a hang-up, and charged in any case", async () => {
  const call = await startAccepted();
  call.call.hangUp();
  expect(await call.call.ended).toMatchObject({ hasHungUp: true });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle"]);
});

test("one that alone can tell its cost is read to its end, and what it reports is charged", async () => {
  const call = await startAccepted({ isCostKnown: false });
  call.call.hangUp();
  call.tell((sink) => sink.onPieces([1]));
  call.tell((sink) => sink.onEnd(900));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 900 });
  expect(call.steps).toEqual(["call", "hold", "held", "reported-or-hold", "settle", "drained"]);
});

test("a whole answer that nobody waits for is read to its end, and what it reports is charged", async () => {
  const call = await startCall({ isCostKnown: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
  call.call.hangUp();
  call.tell((sink) => sink.onAccepted());
  call.tell((sink) => sink.onAnswer("Hi"));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 1 });
  expect(call.steps).toEqual(["call", "hold", "held", "reported-or-hold", "settle", "drained"]);
});

test("an upstream that accepts what nobody waits for any more is stopped once its cost is known", async () => {
  let isCostKnown = false;
  const call = await startCall({ listener: silent, isCostKnown: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  await vi.waitUntil(() => call.steps.includes("held"));
  call.call.plan.meter.isCostKnown = () => isCostKnown;
  call.call.hangUp();
  expect(call.steps).not.toContain("cancel");
  isCostKnown = true;
  call.tell((sink) => sink.onAccepted());
  expect(await call.call.ended).toMatchObject({ hasHungUp: true });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "always", "settle", "drained"]);
});

test("a call that is being read for nobody and is stopped costs all that is on hold, once it was accepted", async () => {
  const call = await startAccepted({ isCostKnown: false });
  call.call.hangUp();
  call.call.stop(new AppError("shutting_down", "The gateway stops."));
  expect(await call.call.ended).toMatchObject({ hasHungUp: true, usage: 10 });
});

test("a call that is stopped before its answer costs nothing, and is told why", async () => {
  const call = await startAccepted();
  call.call.stop(new AppError("shutting_down", "The gateway stops."));
  await expect(call.call.ended).rejects.toMatchObject({ code: "shutting_down" });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "release"]);
});

test("an answer whose hold is refused is given to nobody", async () => {
  const call = await startCall({ isRefused: true });
  call.tell((sink) => sink.onAnswer("Hi"));
  call.openHold();
  await expect(call.call.ended).rejects.toMatchObject({ code: "account_suspended" });
});

test("what an upstream writes after its end and beyond the hold is dropped, and holds nobody up", async () => {
  let looks = 0;
  const call = await startAccepted({
    unitsUsual: 5,
    meter: {
      written: () => 5,
      writtenMax: () => 5,
      isComplete: () => true,
      take() {
        looks += 1;
        if (looks > 100) throw new Error("The same piece is looked at again and again.");
        return 0;
      },
    },
  });
  call.tell((sink) => sink.onPieces([1]));
  await vi.waitUntil(() => call.steps.includes("extend"));
  // The extension is refused; the caller reads on.
  await Promise.resolve();
  call.call.resume();
  call.tell((sink) => sink.onEnd(3));
  expect(await call.call.ended).toMatchObject({ usage: 3, failure: null });
  expect(looks).toBeLessThan(5);
});
