import { describe, expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { createChunkWriter, createEnvelope, presentCompletion, streamEnd } from "./present-chat.ts";
import { createUsage } from "./quote-chat.ts";

const now = new Date("2026-11-15T12:00:00.999Z");
const envelope = createEnvelope("req_01abc", 'a "quoted" model', now);
const choices = '[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]';
const usage = { ...createUsage(100, 20), cachedInputTokens: 40, cacheWriteTokens: 3, reasoningTokens: 5 };
const charge = nano(120_000_000n);
const presentedUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 3, audio_tokens: 0 },
  completion_tokens_details: {
    ...{ reasoning_tokens: 5, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  },
  charge: "0.12",
};

/** The one event that a text is, parsed. */
function readEvent(event: string): unknown {
  expect(event).toMatch(/^data: [^\n]*\n\n$/);
  return JSON.parse(event.slice("data: ".length));
}

test("an answer's id is its request's, its time whole seconds, and its model the one that was asked for", () => {
  expect(envelope).toEqual({ id: "chatcmpl-01abc", created: 1_794_744_000, model: 'a "quoted" model' });
});

describe("a whole answer", () => {
  const answer = { choices: '[{"index":0}]', usage, charge };
  const presented = { ...envelope, object: "chat.completion", choices: [{ index: 0 }], usage: presentedUsage };

  test("has its envelope, choices, usage and charge, and nothing else", () => {
    expect(JSON.parse(presentCompletion(envelope, { ...answer, stoppedBy: null }))).toEqual(presented);
  });

  test("that money ended says so", () => {
    const text = presentCompletion(envelope, { ...answer, stoppedBy: "insufficient_balance" });
    expect(JSON.parse(text)).toEqual({ ...presented, stopped_by: "insufficient_balance" });
  });
});

describe("a chunk", () => {
  const chunk = { ...envelope, object: "chat.completion.chunk", choices: JSON.parse(choices) };
  const asked = createChunkWriter(envelope, { includesUsage: true });
  const unasked = createChunkWriter(envelope, { includesUsage: false });

  test("is one event", () => {
    expect(readEvent(unasked.present(choices, null))).toEqual(chunk);
    expect(readEvent(unasked.present(choices, "insufficient_balance"))).toEqual({
      ...chunk,
      stopped_by: "insufficient_balance",
    });
  });

  test("has an empty usage where usage was asked for, as clients expect", () => {
    expect(readEvent(asked.present(choices, null))).toEqual({ ...chunk, usage: null });
    expect(readEvent(asked.present(choices, "insufficient_balance"))).toEqual({
      ...chunk,
      usage: null,
      stopped_by: "insufficient_balance",
    });
  });

  test("of usage comes last, without choices, and only where it was asked for", () => {
    expect(readEvent(asked.presentUsage(usage, charge))).toEqual({ ...chunk, choices: [], usage: presentedUsage });
    expect(unasked.presentUsage(usage, charge)).toBe("");
    expect(streamEnd).toBe("data: [DONE]\n\n");
  });
});
