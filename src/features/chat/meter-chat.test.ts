import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import type { ChatPiece } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";
import { createChatTerms } from "./chat-terms.ts";
import { ChatMeter } from "./meter-chat.ts";
import { createUsage } from "./quote-chat.ts";

const rates: Price = {
  ...{ id: "price_1", modelId: "talk", capability: null, planId: null, accountId: null },
  ...{ effectiveAt: new Date(0), minimumCharge: nano(0n) },
  amounts: { billingType: "per_call", unit: "call", price: nano(1n) },
};
const piece: ChatPiece = { choices: '[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]', text: "Hi" };
const end: ChatPiece = { choices: '[{"index":0,"delta":{},"finish_reason":"stop"}]', text: "" };
const cover = { isBeyond: () => false };

type Known = { isVisible?: boolean; isText?: boolean; pieces?: ChatPiece[] };

function createMeter({ isVisible = true, isText = true, pieces = [] }: Known): ChatMeter {
  const size = { tokensMax: 50, tokensLikely: 1, characters: 1, isText };
  const visibility = { isVisible, isMetered: isVisible };
  const asked = { model: { limits: {} }, rates, size, outputTokensAsked: 10, choices: 1, holdMs: 1 };
  const terms = createChatTerms({ ...asked, visibility });
  const meter = new ChatMeter({ request: { model: "talk", messages: [] }, size, terms });
  meter.begin(10);
  meter.take(pieces, cover);
  return meter;
}

const reports = [3, 5].map((tokens): ChatPiece => ({ choices: "[]", text: "", usage: createUsage(7, tokens) }));

test.each<[string, Known, boolean]>([
  ["all that was written was seen", { pieces: [piece] }, true],
  ["it told its usage with the last piece", { isVisible: false, pieces: reports }, true],
  ["it told its usage, but not with the last piece", { isVisible: false, pieces: [...reports, piece] }, false],
  ["it reported only what it had read", { isVisible: false, pieces: reports.slice(0, 1) }, false],
  ["it may have written what nobody saw", { isVisible: false, pieces: [piece] }, false],
  ["a whole answer is under way", { isVisible: false }, false],
  ["its input cannot be counted here", { isText: false, pieces: [piece] }, false],
  ["only its usage is missing", { pieces: [...reports, end] }, false],
])("what an answer has cost is known or not where %s", (_name, known, isKnown) => {
  expect(createMeter(known).isCostKnown()).toBe(isKnown);
});

const noReport = { reported: null, unitsHeld: 10, hasHungUp: false };

test("an upstream's report is charged, and where there is none, what was counted", () => {
  const meter = createMeter({ pieces: [piece] });
  const reported = createUsage(7, 3);
  expect(meter.conclude("if-written", { ...noReport, reported })).toMatchObject({
    usage: { inputTokens: 7, outputTokens: 3, isCounted: false },
    isDue: true,
  });
  expect(meter.conclude("if-written", noReport)).toMatchObject({ usage: { outputTokens: 1, isCounted: true } });
});

test("nobody pays for an answer that is empty, unless the cap was used up for it, or they left", () => {
  const reported = createUsage(7, 10);
  expect(createMeter({}).conclude("if-written", { ...noReport, reported }).isDue).toBe(false);
  const capped = createMeter({ pieces: [{ ...end, choices: end.choices.replace("stop", "length") }] });
  expect(capped.conclude("if-written", { ...noReport, reported }).isDue).toBe(true);
  expect(createMeter({}).conclude("always", { ...noReport, hasHungUp: true })).toMatchObject({
    isDue: true,
    usage: { hasHungUp: true },
  });
});

test("where only the upstream could tell, and does not, all that is on hold is charged", () => {
  const drained = { ...noReport, hasHungUp: true };
  expect(createMeter({ isVisible: false }).conclude("reported-or-hold", drained)).toMatchObject({
    isDue: true,
    usage: { inputTokens: 50, outputTokens: 10, hasHungUp: true },
  });
});
