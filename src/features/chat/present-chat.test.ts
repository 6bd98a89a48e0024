import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { nano } from "../../lib/money.ts";
import { createLogger } from "../../platform/observability/logger.ts";
import type { CallEnd } from "../calls/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { createChatTerms } from "./chat-terms.ts";
import { ChatMeter } from "./meter-chat.ts";
import { ChatPresenter, createEnvelope } from "./present-chat.ts";
import { type ChargedUsage, createUsage } from "./quote-chat.ts";

const logger = createLogger({ level: "error", format: "json", write: () => {} });
const context = { logger, requestId: "req_01abc", modelId: "talk" };
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

const rates = createTestPrice({ modelId: "talk", unit: "call", rates: { call: 1n } });
const size = { tokensMax: 1, tokensLikely: 1, characters: 1, isText: true };

/** A presenter for a call that may use so many of twenty tokens. */
function createPresenter({ isStreamed = true, includesUsage = false, tokensAllowed = 20 } = {}) {
  const asked = { outputTokensAsked: 10, choices: 2, visibility: { isVisible: true, isMetered: true }, holdMs: 1 };
  const terms = createChatTerms({ model: { limits: {} }, rates, size, ...asked });
  const meter = new ChatMeter({ request: { model: "talk", messages: [] }, size, terms, ...context });
  meter.begin(tokensAllowed);
  return { meter, presenter: new ChatPresenter(envelope, meter, { isStreamed, includesUsage }) };
}

function createEnd(end: Partial<CallEnd<ChatKinds>>): CallEnd<ChatKinds> {
  const settlement = { charge, lost: nano(0n) };
  return {
    answer: null,
    usage: usage as ChargedUsage,
    settlement,
    stoppedBy: null,
    failure: null,
    hasHungUp: false,
    ...end,
  };
}

/** The only event of a text, parsed. */
function readEvent(event: string): unknown {
  expect(event).toMatch(/^data: [^\n]*\n\n$/);
  return JSON.parse(event.slice("data: ".length));
}

test("the id derives from the request's, the time is in seconds, and the model is the requested one", () => {
  expect(envelope).toEqual({ id: "chatcmpl-01abc", created: 1_794_744_000, model: 'a "quoted" model' });
});

describe("a non-streaming answer", () => {
  const answer = { choices: '[{"index":0}]', text: "", usage: null };
  const presented = { ...envelope, object: "chat.completion", choices: [{ index: 0 }], usage: presentedUsage };
  const { presenter } = createPresenter({ isStreamed: false });

  test("has its envelope, choices, usage and charge, and nothing else", () => {
    expect(JSON.parse(presenter.presentWhole(createEnd({ answer })))).toEqual(presented);
  });

  test("that ran out of balance says so", () => {
    const text = presenter.presentWhole(createEnd({ answer, stoppedBy: "insufficient_balance" }));
    expect(JSON.parse(text)).toEqual({ ...presented, stopped_by: "insufficient_balance" });
  });

  test("that is too large to store is summarised in a sentence", () => {
    expect(presenter.summarize(createEnd({ answer }))).toBe(
      "Its id is chatcmpl-01abc; it had 100 prompt tokens and 20 completion tokens and cost 0.12.",
    );
  });
});

describe("a chunk", () => {
  const chunk = { ...envelope, object: "chat.completion.chunk", choices: JSON.parse(choices) };
  const capped = '[{"index":0,"delta":{},"finish_reason":"length"}]';
  const always = { isBeyond: () => false };

  /** The event of a piece that ends at its cap. */
  function presentCapped(options: Parameters<typeof createPresenter>[0]) {
    const { meter, presenter } = createPresenter(options);
    const pieces = [{ choices: capped, text: "" }];
    meter.take(pieces, always);
    return readEvent(presenter.presentPieces(pieces));
  }

  test("is one event", () => {
    const { presenter } = createPresenter();
    expect(readEvent(presenter.presentPieces([{ choices, text: "Hi" }]))).toEqual(chunk);
  });

  test("has a null usage if usage was requested, as clients expect", () => {
    const { presenter } = createPresenter({ includesUsage: true });
    expect(readEvent(presenter.presentPieces([{ choices, text: "Hi" }]))).toEqual({ ...chunk, usage: null });
  });

  test("that ends at the balance's cap says so; one that ends at the caller's cap does not", () => {
    const end = { ...chunk, choices: JSON.parse(capped) };
    const stop = { stopped_by: "insufficient_balance" };
    expect(presentCapped({})).toEqual(end);
    expect(presentCapped({ tokensAllowed: 9 })).toEqual({ ...end, ...stop });
    expect(presentCapped({ tokensAllowed: 9, includesUsage: true })).toEqual({ ...end, usage: null, ...stop });
  });

  test("ends every open choice when the balance runs out", () => {
    const { meter, presenter } = createPresenter();
    meter.take([{ choices: '[{"index":0,"delta":{},"finish_reason":"stop"}]', text: "" }], always);
    expect(readEvent(presenter.presentCut("insufficient_balance"))).toEqual({
      ...chunk,
      choices: [{ index: 1, delta: {}, finish_reason: "length" }],
      stopped_by: "insufficient_balance",
    });
  });

  test("with usage comes last, without choices, and only if it was requested", () => {
    const done = "data: [DONE]\n\n";
    const tail = createPresenter({ includesUsage: true }).presenter.presentTail(createEnd({}));
    expect(tail.endsWith(done)).toBe(true);
    expect(readEvent(tail.slice(0, -done.length))).toEqual({ ...chunk, choices: [], usage: presentedUsage });
    expect(createPresenter().presenter.presentTail(createEnd({}))).toBe(done);
  });
});
