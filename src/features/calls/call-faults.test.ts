import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countRuns } from "../../../test/harness/count-runs.ts";
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
import type { Claim, Claims } from "../idempotency/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CallAudience, CallListener, RunningCall } from "./call-context.ts";
import type { CallKinds, CallMeter, CallPlan, CallSink, CallTerms } from "./paid-endpoint.ts";
import { PaidCall } from "./run-call.ts";

type Kinds = CallKinds & { delta: number; answer: string; reported: number; usage: number };

const caller: Caller = {
  ...{ accountId: "acct_1", keyId: "key_1", lineageId: "key_1", planId: null, modelIds: null, budget: null },
  ...{ accountLimits: standardLimits, keyLimits: {}, logsContent: false },
};

/** Every callback that an endpoint or a route passes to a call. */
const callbacks = [
  ...(["begin", "take", "takeAnswer", "written", "writtenMax", "isComplete", "isPastCap", "isCostKnown"] as const),
  ...(["conclude", "start", "pause", "resume", "cancel", "explain", "bill", "countTokens"] as const),
  ...(["describeUsage", "describeSpan", "findAffinity", "price", "countAffordable", "drainPlace"] as const),
  ...(["onAccepted", "onPieces", "onCut", "keptBytes", "keptDescribe"] as const),
] as const;
type Callback = (typeof callbacks)[number];

const actions = [
  ...(["accept", "pieces", "end", "answer", "reject", "hang-up", "stop", "resume", "hold-open", "tick"] as const),
  ...(["pieces", "pieces"] as const),
] as const;
type Action = (typeof actions)[number];

type World = {
  form: "whole" | "stream";
  isKept: boolean;
  isPlenty: boolean;
  isCostKnown: boolean;
  isPastCap: boolean;
  hasPlaces: boolean;
  holdResult: "held" | "refused" | "lost";
  extension: "extended" | "refused" | "lost";
  /** Which callbacks throw, from which of their calls on, once or always. */
  throws: { name: Callback; from: number; lasts: boolean }[];
  script: Action[];
};

const worlds: fc.Arbitrary<World> = fc.record({
  form: fc.constantFrom("whole" as const, "stream" as const),
  isKept: fc.boolean(),
  isPlenty: fc.boolean(),
  isCostKnown: fc.boolean(),
  isPastCap: fc.boolean(),
  hasPlaces: fc.boolean(),
  holdResult: fc.constantFrom("held" as const, "held" as const, "held" as const, "refused" as const, "lost" as const),
  extension: fc.constantFrom("extended" as const, "refused" as const, "lost" as const),
  throws: fc.array(
    fc.record({ name: fc.constantFrom(...callbacks), from: fc.integer({ min: 1, max: 3 }), lasts: fc.boolean() }),
    { maxLength: 3 },
  ),
  script: fc.array(fc.constantFrom(...actions), { maxLength: 12 }),
});

/** Runs a call through a script with throwing callbacks, and returns how it and its hold ended. */
async function runWorld(world: World) {
  const counts = new Map<Callback, number>();
  const ended: string[] = [];
  let isHoldWritten = false;
  const { promise: opened, resolve: openHold } = Promise.withResolvers<void>();
  let sink: CallSink<Kinds> | null = null;
  let written = 0;

  /** Counts a call of a callback, and throws if the world says so. */
  function enter<T>(name: Callback, result: T): T {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const isThrown = world.throws.some(
      (one) => one.name === name && (one.lasts ? count >= one.from : count === one.from),
    );
    if (isThrown) throw new Error(`${name} throws`);
    return result;
  }

  const outage = (): AppError => new AppError("overloaded", "The payment could not be recorded.");
  const ledger = {
    estimateSpendable: () => nano(world.isPlenty ? 1_000n : 0n),
    beginEarly: () => world.isPlenty,
    hasAmpleReserve: () => false,
    endEarly: () => {},
    async apply({ kind }: { kind: string }, conclusion: { describe(result: unknown): unknown } | null) {
      await opened;
      if (kind === "hold") {
        if (world.holdResult === "lost") throw outage();
        if (world.holdResult === "refused") return { kind: "refused", reason: "insufficient", missing: 1n };
        isHoldWritten = true;
        return { kind: "held", unit: "money" };
      }
      if (kind === "extend") {
        if (world.extension === "lost") throw outage();
        return world.extension === "extended" ? { kind: "extended" } : { kind: "refused", missing: 1n };
      }
      if (!isHoldWritten) return { kind: "not-found" };
      ended.push(kind);
      const result = { kind: kind === "settle" ? "settled" : "released", unit: "money", paid: 1n, lost: 1n };
      conclusion?.describe(result);
      return result;
    },
  } as unknown as Ledger;

  const meter: CallMeter<Kinds> = {
    begin: () => enter("begin", undefined),
    take(deltas) {
      written += deltas.length;
      return enter("take", deltas.length);
    },
    takeAnswer: (answer) => enter("takeAnswer", { answer, reported: 1 }),
    written: () => enter("written", written),
    writtenMax: () => enter("writtenMax", written),
    isComplete: () => enter("isComplete", false),
    isPastCap: () => enter("isPastCap", world.isPastCap && written > 8),
    isCostKnown: () => enter("isCostKnown", world.isCostKnown),
    conclude: (rule, { reported, unitsHeld }) =>
      enter("conclude", { usage: reported ?? unitsHeld, isDue: rule !== "nothing", stoppedBy: null }),
  };
  const isStreamed = world.form === "stream";
  const terms: CallTerms = {
    ...{ priceId: "price_1", isFree: false, unitsMax: 10, unitsUsual: isStreamed ? 4 : 10, isMetered: isStreamed },
    ...{ holdMs: 1, quota: { kind: "text", units: 10n } },
    // The constructor prices the usual units before the call is admitted; that is not under test here.
    price: (units) => (counts.size === 0 ? nano(BigInt(units)) : enter("price", nano(BigInt(units)))),
    countAffordable: () => enter("countAffordable", 5),
  };
  const plan: CallPlan<Kinds> = {
    ...{ caller, requestId: "req_1", modelId: "talk", meter, terms, tokensLikely: 0, callMs: 1000, headers: {} },
    targets: [
      {
        ...{ providerId: "main", upstreamModel: "talk-1", keyNumber: 0, apiKeyReference: null, placeHash: 0 },
        secrets: environmentSecrets,
        route: { provider: "main", upstream_model: "talk-1", priority: 0, weight: 1 },
        provider: { id: "main", kind: "sandbox" },
      },
    ],
    presenter: {} as CallPlan<Kinds>["presenter"],
    start(_target, _unitsMax, given) {
      const run = enter("start", {
        pause: () => enter("pause", undefined),
        resume: () => enter("resume", undefined),
        cancel: () => enter("cancel", undefined),
      });
      sink = given;
      return run;
    },
    findAffinity: () => enter("findAffinity", 1),
    explain: (cause) => enter("explain", new AppError("upstream_unavailable", "It failed.", { cause })),
    bill: () => enter("bill", { priceId: "price_1", per: 1n, minimum: nano(0n), quotaUnits: 1n, items: [] }),
    countTokens: (usage) => enter("countTokens", { input: 0, output: usage }),
    describeUsage: () => enter("describeUsage", {}),
    describeSpan: () => enter("describeSpan", {}),
    operation: { name: "chat", outputType: "text" },
  };
  const listener: CallListener<Kinds> = {
    onAccepted: () => enter("onAccepted", undefined),
    onPieces: () => enter("onPieces", true),
    onCut: () => enter("onCut", undefined),
  };
  const kept: CallAudience<Kinds>["kept"] = {
    claim: {} as Claim,
    bytes: () => enter("keptBytes", 1),
    describe: () => enter("keptDescribe", { status: 200, contentType: "", body: null, summary: "" }),
    describeFault: () => ({ status: 500, contentType: "", body: null, summary: "" }),
  };
  const clock = createTestClock();
  const running = createRegistry<RunningCall>();
  let places = 0;
  const call = new PaidCall<Kinds>(
    {
      ...{ clock, ledger, running, currency: "USD" },
      ids: createIdSource({ clock, randomBytes }),
      counters: createMemoryCounters({ clock }),
      claims: { end: async () => {} } as unknown as Claims,
      unchargedCosts: { add: () => {}, close: async () => {} },
      withdrawals: { add: () => {}, close: async () => {} },
      drainedCalls: {
        take() {
          if (!enter("drainPlace", world.hasPlaces)) return null;
          places += 1;
          return () => {
            places -= 1;
          };
        },
        untilNone: async () => {},
      },
      notices: { warn: () => {} },
      routing: { health: createUpstreamHealth({ clock }), random: () => 0, clock },
      logger: createLogger({ level: "error", format: "json", write: () => {} }),
      metrics: createMetrics(),
    },
    plan,
  );
  await call.admit(null, undefined);
  const outcome = call.ended.then(
    () => "answered",
    () => "refused",
  );
  call.start({ listener: isStreamed ? listener : null, kept: world.isKept ? kept : null });

  const stopping = new AppError("shutting_down", "The gateway stops.");
  let upstream: "asked" | "accepted" | "over" = "asked";
  /** The upstream keeps the order that `CallSink` documents. */
  async function act(action: Action): Promise<void> {
    if (action === "hang-up") call.hangUp();
    else if (action === "stop") call.stop(stopping);
    else if (action === "resume") call.resume();
    else if (action === "hold-open") openHold();
    else if (action === "tick") await flush();
    else if (sink !== null && upstream !== "over") emit(sink, action);
  }
  function emit(to: CallSink<Kinds>, action: Action): void {
    if (action === "accept" && upstream === "asked") to.onAccepted();
    else if (action === "pieces" && isStreamed) to.onPieces([1, 2, 3]);
    else if (action === "end" && isStreamed) to.onEnd(1);
    else if (action === "answer" && !isStreamed) to.onAnswer("Hi");
    else if (action === "reject") to.onError(new ProviderError("rejected", "No."));
    else return;
    upstream = action === "accept" || action === "pieces" ? "accepted" : "over";
  }
  for (const action of world.script) await act(action);
  openHold();
  await flush();
  await act("reject");
  call.stop(stopping);
  await flush();
  const result = await Promise.race([outcome, flush(200).then(() => "pending")]);
  return { result, ended, isHoldWritten, runningCount: running.list().length, places };
}

async function flush(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
}

test("a call and its hold end exactly once, whichever callback throws in whichever state", async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const { result, ended, isHoldWritten, runningCount, places } = await runWorld(world);
      expect(result).not.toBe("pending");
      expect(ended).toHaveLength(isHoldWritten ? 1 : 0);
      expect(runningCount).toBe(0);
      expect(places).toBe(0);
    }),
    { numRuns: countRuns(3000) },
  );
});

test.each(callbacks)("a call whose %s always throws ends, streamed and whole, hung up or not", async (name) => {
  const scripts: Action[][] = [
    ["hold-open", "tick", "accept", "pieces", "pieces", "tick", "end"],
    ["accept", "pieces", "hold-open", "tick", "pieces", "pieces", "pieces", "pieces", "tick", "end"],
    ["hold-open", "tick", "accept", "answer"],
    ["hold-open", "tick", "accept", "pieces", "hang-up", "end", "answer"],
    ["hang-up", "hold-open", "tick", "accept", "pieces", "end", "answer"],
  ];
  for (const script of scripts) {
    for (const form of ["whole", "stream"] as const) {
      for (const flag of [true, false]) {
        const world: World = {
          ...{ form, script, isKept: flag, isPlenty: flag, isCostKnown: flag, isPastCap: !flag, hasPlaces: flag },
          ...{ holdResult: "held", extension: flag ? "extended" : "refused" },
          throws: [{ name, from: 1, lasts: true }],
        };
        const { result, ended } = await runWorld(world);
        expect([result, ended.length], JSON.stringify(world)).toEqual([expect.not.stringMatching("pending"), 1]);
      }
    }
  }
});
