import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { ChatProvider } from "../../providers/contract.ts";
import { createUpstreamHealth } from "../../providers/upstream-health.ts";
import type { ChatTarget } from "./chat-target.ts";
import { startRoutedChat } from "./route-chat.ts";

const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 };

function createTarget(keyNumber: number, startChat: ChatProvider["startChat"]): ChatTarget {
  const chat = { findObstacle: () => null, startChat, reportsStreamUsage: true, close: async () => {} };
  const route = { provider: "main", upstream_model: "talk-1", priority: keyNumber, weight: 1 };
  const provider = { id: "main", kind: "sandbox" as const };
  const target = { providerId: "main", upstreamModel: "talk-1", keyNumber, route, provider, apiKeyReference: null };
  return { ...target, chat, apiKey: null, timeouts };
}

const broken: ChatProvider["startChat"] = () => {
  throw new TypeError("a mistake of ours");
};

/** What becomes of a call to these targets. */
function route(targets: readonly ChatTarget[]): Promise<{ answer: string } | { failure: AppError; attempts: number }> {
  return new Promise((resolve) => {
    let attempts = 0;
    startRoutedChat(
      {
        health: createUpstreamHealth({ clock: createTestClock() }),
        random: () => 0,
        onFailedAttempt: () => {
          attempts += 1;
        },
        onLoss: () => {},
      },
      { request: { model: "talk", messages: [] }, outputTokensMax: 1, targets },
      {
        onAccepted: () => {},
        onPieces: () => {},
        onEnd: () => {},
        onAnswer: ({ text }) => resolve({ answer: text }),
        onFailure: (failure) => resolve({ failure, attempts }),
      },
    );
  });
}

test("a provider that throws instead of telling is like one that fails: the next target is tried", async () => {
  const good = createTarget(1, (_call, sink) => {
    queueMicrotask(() => sink.onAnswer({ choices: "[]", text: "Hi", usage: null }));
    return { pause: () => {}, resume: () => {}, cancel: () => {} };
  });
  expect(await route([createTarget(0, broken), good])).toEqual({ answer: "Hi" });
});

test("where every provider throws, the caller hears of it after three attempts, and nothing else breaks", async () => {
  const targets = [0, 1, 2, 3].map((keyNumber) => createTarget(keyNumber, broken));
  expect(await route(targets)).toMatchObject({ failure: { code: "upstream_unavailable" }, attempts: 3 });
});
