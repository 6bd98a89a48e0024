import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { nano } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatSink } from "../../providers/contract.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { ChatTarget } from "./chat-target.ts";
import type { ChatPayment } from "./pay-chat.ts";
import { createUsage } from "./quote-chat.ts";
import { type ChatListener, runChat } from "./run-chat.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const oneToken = { tokensMax: 1, tokensLikely: 1, characters: 1 };
const answer = { choices: "[]", text: "Hi", usage: createUsage(1, 1) };

/** A call whose upstream and ledger do what the test says, and what happened in it, in order. */
function startCall({
  isComfortable = true,
  isRefused = false,
  isVisible = true,
  listener = null as ChatListener | null,
} = {}) {
  const steps: string[] = [];
  const { promise: opened, resolve: openHold } = Promise.withResolvers<void>();
  let sink: ChatSink | null = null;
  const payment: ChatPayment = {
    holdId: null,
    canAuthorizeOptimistically: () => isComfortable,
    async open() {
      steps.push("hold");
      await opened;
      if (isRefused) throw new AppError("insufficient_balance", "There is no money.");
      steps.push("held");
    },
    canCharge: () => true,
    countPayable: () => 10,
    covered: () => 10,
    describeHeldUsage: () => createUsage(10, 10),
    extend: async () => {},
    async settle(usage) {
      steps.push(usage === null ? "release" : "settle");
      await opened;
      return { charge: nano(1n), lost: nano(0n) };
    },
  };
  const target: ChatTarget = {
    ...{ providerId: "main", upstreamModel: "talk-1", keyNumber: 0, apiKeyReference: null, apiKey: null },
    route: { provider: "main", upstream_model: "talk-1", priority: 0, weight: 1 },
    provider: { id: "main", kind: "sandbox" },
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    chat: {
      findObstacle: () => null,
      startChat(_call, given) {
        steps.push("call");
        sink = given;
        return { pause: () => {}, resume: () => {}, cancel: () => steps.push("cancel") };
      },
      reportsStreamUsage: true,
      close: async () => {},
    },
  };
  const running = runChat(
    {
      health: createUpstreamHealth({ clock: createTestClock() }),
      random: () => 0,
      onFailedAttempt: () => {},
      onLoss: () => {},
    },
    {
      ...{ request: { model: "talk", messages: [] }, size: { ...oneToken, isText: true } },
      ...{ targets: [target], payment, outputTokensMax: 10, choices: 1, isVisible },
    },
    { listener, conclude: null, onOver: () => steps.push("over"), takeDrainPlace: () => () => steps.push("drained") },
  );
  return { steps, running, openHold, tell: (say: (sink: ChatSink) => void) => sink !== null && say(sink) };
}

test("where money is plenty the request leaves first, and its hold is written a moment later", async () => {
  const call = startCall();
  expect(call.steps).toEqual(["call"]);
  vi.advanceTimersByTime(1);
  expect(call.steps).toEqual(["call", "hold"]);
  call.openHold();
  call.tell((sink) => sink.onAnswer(answer));
  await call.running.ended;
  expect(call.steps).toEqual(["call", "hold", "settle", "held", "over"]);
});

test("where it is not, nothing leaves before the hold is there", async () => {
  const call = startCall({ isComfortable: false });
  expect(call.steps).toEqual(["hold"]);
  call.openHold();
  await vi.waitUntil(() => call.steps.includes("call"));
  expect(call.steps).toEqual(["hold", "held", "call"]);
});

test("an answer that comes before the hold asks for both at once, and is told when both are there", async () => {
  const call = startCall();
  call.tell((sink) => sink.onAnswer(answer));
  expect(call.steps).toEqual(["call", "hold", "settle"]);
  let isTold = false;
  const told = call.running.ended.then(() => {
    isTold = true;
  });
  await Promise.resolve();
  expect(isTold).toBe(false);
  call.openHold();
  await told;
  vi.advanceTimersByTime(10);
  expect(call.steps.filter((step) => step === "hold")).toHaveLength(1);
});

test("a stream's first word asks for the hold, and is heard when it is there", async () => {
  const heard: string[] = [];
  const listener = {
    onAccepted: () => void heard.push("accepted"),
    onPieces: () => heard.push("pieces") > 0,
  };
  const call = startCall({ listener });
  call.tell((sink) => sink.onAccepted());
  call.tell((sink) => sink.onPieces([{ choices: "[]", text: "Hi" }]));
  expect(call.steps).toEqual(["call", "hold"]);
  expect(heard).toEqual([]);
  call.openHold();
  await vi.waitUntil(() => heard.length === 2);
  expect(heard).toEqual(["accepted", "pieces"]);
});

const silent: ChatListener = { onAccepted: () => {}, onPieces: () => true };

test("a caller who goes before the hold was asked for has it made and given back", async () => {
  const call = startCall({ listener: silent });
  call.running.hangUp();
  call.openHold();
  await call.running.ended;
  expect(call.steps).toEqual(["call", "cancel", "hold", "held", "release", "over"]);
});

test("an upstream that reports its usage as it goes is stopped at a hang-up, and paid what it reported", async () => {
  const call = startCall({ listener: silent, isVisible: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  call.tell((sink) => sink.onAccepted());
  await vi.waitUntil(() => call.steps.includes("held"));
  for (const tokens of [3, 5]) {
    call.tell((sink) => sink.onPieces([{ choices: "[]", text: "", usage: createUsage(7, tokens) }]));
  }
  call.running.hangUp();
  expect(await call.running.ended).toMatchObject({ hasHungUp: true, usage: { inputTokens: 7, outputTokens: 5 } });
  expect(call.steps).toEqual(["call", "hold", "held", "cancel", "settle", "over"]);
});

test("one that reported only what it had read is read to its end", async () => {
  const call = startCall({ listener: silent, isVisible: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  call.tell((sink) => sink.onAccepted());
  await vi.waitUntil(() => call.steps.includes("held"));
  for (const tokens of [1, 1]) {
    call.tell((sink) => sink.onPieces([{ choices: "[]", text: "", usage: createUsage(7, tokens) }]));
  }
  call.running.hangUp();
  call.tell((sink) => sink.onEnd(createUsage(7, 900)));
  expect(await call.running.ended).toMatchObject({ hasHungUp: true, usage: { inputTokens: 7, outputTokens: 900 } });
  expect(call.steps).not.toContain("cancel");
});

test("a whole answer that nobody waits for is read to its end, and what it reports is charged", async () => {
  const call = startCall({ isVisible: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  call.running.hangUp();
  call.tell((sink) => sink.onAccepted());
  call.tell((sink) => sink.onAnswer(answer));
  expect(await call.running.ended).toMatchObject({ hasHungUp: true, usage: { inputTokens: 1, outputTokens: 1 } });
  expect(call.steps).toEqual(["call", "hold", "settle", "held", "drained", "over"]);
});

test("a call that is being read for nobody and is stopped costs all that is on hold, once it was accepted", async () => {
  const call = startCall({ isVisible: false });
  call.openHold();
  vi.advanceTimersByTime(1);
  call.tell((sink) => sink.onAccepted());
  await vi.waitUntil(() => call.steps.includes("held"));
  call.running.hangUp();
  call.running.stop(new AppError("shutting_down", "The gateway stops."));
  expect(await call.running.ended).toMatchObject({ hasHungUp: true, usage: { inputTokens: 10, outputTokens: 10 } });
});

test("an answer whose hold is refused is given to nobody", async () => {
  const call = startCall({ isRefused: true });
  call.tell((sink) => sink.onAnswer(answer));
  call.openHold();
  await expect(call.running.ended).rejects.toMatchObject({ code: "insufficient_balance" });
});
