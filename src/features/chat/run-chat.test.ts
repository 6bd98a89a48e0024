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

const answer = { choices: "[]", text: "Hi", usage: createUsage(1, 1) };

/** A call whose upstream and ledger do what the test says, and what happened in it, in order. */
function startCall({ isComfortable = true, isRefused = false, listener = null as ChatListener | null } = {}) {
  const steps: string[] = [];
  const { promise: opened, resolve: openHold } = Promise.withResolvers<void>();
  let sink: ChatSink | null = null;
  const payment: ChatPayment = {
    holdId: null,
    isComfortable: () => isComfortable,
    async open() {
      steps.push("hold");
      await opened;
      if (isRefused) throw new AppError("insufficient_balance", "There is no money.");
      steps.push("held");
    },
    canCharge: () => true,
    countPayable: () => 10,
    covered: () => 10,
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
      close: async () => {},
    },
  };
  const running = runChat(
    { health: createUpstreamHealth({ clock: createTestClock() }), random: () => 0, onFailedAttempt: () => {} },
    {
      ...{ request: { model: "talk", messages: [] }, size: { tokensMax: 1, tokensLikely: 1, characters: 1 } },
      ...{ targets: [target], payment, outputTokensMax: 10, choices: 1 },
    },
    { listener, conclude: null, onOver: () => steps.push("over") },
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

test("a caller who goes before the hold was asked for has it made and given back", async () => {
  const call = startCall();
  call.running.hangUp();
  call.openHold();
  await call.running.ended;
  expect(call.steps).toEqual(["call", "cancel", "hold", "held", "release", "over"]);
});

test("an answer whose hold is refused is given to nobody", async () => {
  const call = startCall({ isRefused: true });
  call.tell((sink) => sink.onAnswer(answer));
  call.openHold();
  await expect(call.running.ended).rejects.toMatchObject({ code: "insufficient_balance" });
});
