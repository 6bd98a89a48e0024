import { describe, expect, test } from "vitest";
import type { Caller } from "../../lib/caller.ts";
import { standardLimits } from "../../lib/limit-set.ts";
import { nano } from "../../lib/money.ts";
import { environmentSecrets } from "../../platform/config/secrets.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { ProviderError } from "../../providers/contract.ts";
import type { CatalogView, OfferedModel, RouteTarget } from "../catalog/index.ts";
import { explainCallFailure } from "./call-errors.ts";
import { type FlatCall, flatCall, listFlatTargets } from "./flat-call.ts";
import type { CallAttempt } from "./paid-endpoint.ts";

/** The smallest endpoint: one price a call, one answer. */
type Types = {
  adapter: { moderate(call: { timeoutMs: number; apiKey: string | null }): Promise<string> };
  piece: string;
  answer: string;
  reported: never;
  usage: { calls: number };
};

const caller: Caller = {
  ...{ accountId: "acct_1", keyId: "key_1", lineageId: "key_1", planId: null, modelIds: null, budget: null },
  ...{ accountLimits: standardLimits, keyLimits: {}, logsContent: false },
};
const routeTarget = {
  ...{ providerId: "vendor", upstreamModel: "m-1", keyNumber: 0, apiKeyReference: null, placeHash: 1 },
  secrets: environmentSecrets,
  ...{ provider: { timeouts: {} }, route: {} },
} as RouteTarget;
const attempt: CallAttempt = { traceparent: null, remainingMs: 500 };

function prepare(changes: Partial<FlatCall<Types>> = {}, { rate = 5n }: { rate?: bigint } = {}) {
  return flatCall<Types>({
    ...{ caller, requestId: "req_1" },
    offered: { model: { id: "m" }, status: "available", prices: [] } as unknown as OfferedModel,
    targets: [{ ...routeTarget, adapter: { moderate: async () => "fine" }, timeoutMs: 1000 }],
    operation: { name: "generate_content", outputType: null },
    usageMax: { calls: 1 },
    bill: ({ calls }) => ({
      ...{ priceId: "price_1", minimum: nano(0n), per: 1000n, quotaUnits: 1n },
      items: [{ name: "calls", quantity: BigInt(calls), rate: nano(rate) }],
    }),
    presenter: {
      form: "whole",
      contentType: "text/plain",
      presentWhole: ({ answer }) => answer ?? "",
      summarize: () => "",
    },
    async send({ adapter }, { timeoutMs, apiKey }, sink) {
      const answer = await adapter.moderate({ timeoutMs, apiKey });
      sink.onAccepted();
      sink.onAnswer(answer);
    },
    explain: (error) =>
      explainCallFailure(error, { tooLong: { code: "prompt_too_long", message: "", param: "input" } }),
    describeUsage: (usage) => usage,
    describeSpan: () => ({}),
    ...changes,
  });
}

/** Starts an attempt and records what its sink receives. */
function start(plan: ReturnType<typeof prepare>) {
  const events: unknown[] = [];
  const [target] = plan.targets;
  if (target === undefined) throw new Error("there is no target");
  const note = (name: string) => (value?: unknown) => void events.push(value === undefined ? name : [name, value]);
  const sink = { onAccepted: note("accepted"), onPieces: note("pieces"), onEnd: note("end"), onAnswer: note("answer") };
  const run = plan.start(target, 1, { ...sink, onError: note("error") }, attempt);
  return { events, run };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("the price of the most that a call can use is on hold, also if it rounds to zero", () => {
  const { terms } = prepare({}, { rate: 5000n });
  expect([terms.price(1), terms.isFree, terms.countAffordable(nano(4n)), terms.countAffordable(nano(5n))]).toEqual([
    ...[5n, false, 0, 1],
  ]);
  expect([prepare({}, { rate: 1n }).terms.price(1), prepare({}, { rate: 1n }).terms.isFree]).toEqual([1n, false]);
  expect(prepare({}, { rate: 0n }).terms).toMatchObject({ isFree: true, quota: { kind: "text", units: 1n } });
});

test("without a meter, all of it is charged once there is output, and a hang-up is marked on the bill", () => {
  const { meter, bill } = prepare();
  const end = { reported: null, unitsHeld: 1, hasHungUp: true };
  expect(meter.conclude("if-written", end)).toMatchObject({ isDue: false, stoppedBy: null });
  meter.takeAnswer("fine");
  const { usage, isDue } = meter.conclude("if-written", end);
  expect([usage, isDue]).toEqual([{ calls: 1, hasHungUp: true }, true]);
  expect(bill(usage).items.map(({ name }) => name)).toEqual(["calls", "hung_up"]);
  expect(meter.conclude("nothing", end).isDue).toBe(false);
});

describe("an attempt", () => {
  test("has no more time than the call has left", async () => {
    const calls: unknown[] = [];
    const moderate = async (call: unknown): Promise<string> => String(calls.push(call));
    const { events } = start(prepare({ targets: [{ ...routeTarget, adapter: { moderate }, timeoutMs: 1000 }] }));
    await settle();
    expect(calls).toEqual([{ timeoutMs: 500, apiKey: null }]);
    expect(events).toEqual(["accepted", ["answer", "1"]]);
  });

  test("fails with a `ProviderError`, whatever the adapter throws", async () => {
    const known = new ProviderError("overloaded", "busy");
    for (const [thrown, expected] of [
      [known, known],
      [new TypeError("bug"), expect.objectContaining({ kind: "bad-answer" })],
    ] as const) {
      const { events } = start(prepare({ send: () => Promise.reject(thrown) }));
      await settle();
      expect(events).toEqual([["error", expected]]);
    }
  });

  test("passes nothing on once it is canceled", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { events, run } = start(
      prepare({
        async send(_target, { signal }, sink) {
          sink.onAccepted();
          await promise;
          sink.onPieces(["late"]);
          sink.onEnd(null);
          sink.onAnswer("late");
          signal.throwIfAborted();
        },
      }),
    );
    run.cancel();
    resolve();
    await settle();
    expect(events).toEqual(["accepted"]);
  });

  test("waits between pieces while the caller does not read", async () => {
    const { events, run } = start(
      prepare({
        async send(_target, _attempt, sink) {
          for (const piece of ["a", "b", "c"]) {
            sink.onPieces([piece]);
            await sink.untilResumed();
          }
        },
      }),
    );
    run.pause();
    await settle();
    expect(events).toHaveLength(2);
    run.resume();
    await settle();
    expect(events).toHaveLength(3);
  });
});

describe("listFlatTargets", () => {
  const view = { targetsByModelId: new Map([["m", [routeTarget, { ...routeTarget, keyNumber: 1 }]]]) };
  const list = (
    adapters: (string | null)[],
    findObstacle?: (adapter: string) => { param: string; message: string } | null,
  ) =>
    listFlatTargets(view as unknown as CatalogView, "m", {
      getAdapter: () => adapters.shift() ?? null,
      ...(findObstacle === undefined ? {} : { findObstacle }),
      timeoutMsUsual: 7,
    });

  test("returns the targets whose adapter supports the request", () => {
    expect(list(["a", null])).toMatchObject([{ adapter: "a", keyNumber: 0, timeoutMs: 7 }]);
    const findObstacle = (adapter: string) => (adapter === "a" ? { param: "input", message: "No." } : null);
    expect(list(["a", "b"], findObstacle)).toMatchObject([{ adapter: "b", keyNumber: 1 }]);
    expect(list([])).toEqual([]);
  });

  test("throws if every adapter has an obstacle", () => {
    expect(() => list(["a", "b"], (adapter) => ({ param: adapter, message: "No." }))).toThrow(
      new AppError("unsupported_capability", "No.", { param: "a" }),
    );
  });
});
