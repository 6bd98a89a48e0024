import { expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { createLogger } from "../../platform/observability/logger.ts";
import { type ChatPiece, type ChatUsage, uncountableUsage } from "../../providers/contract.ts";
import { createChatTerms } from "./chat-terms.ts";
import { ChatMeter } from "./meter-chat.ts";
import { createUsage } from "./quote-chat.ts";

const rates = createTestPrice({ modelId: "talk", unit: "call", rates: { call: 1n } });
const piece: ChatPiece = { choices: '[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]', text: "Hi" };
const end: ChatPiece = { choices: '[{"index":0,"delta":{},"finish_reason":"stop"}]', text: "" };
const lines: Record<string, unknown>[] = [];
const logger = createLogger({ level: "info", format: "json", write: (line) => void lines.push(JSON.parse(line)) });
const context = { logger, requestId: "req_1", modelId: "talk" };
const cover = { isBeyond: () => false };

type Known = { isVisible?: boolean; isText?: boolean; pieces?: ChatPiece[] };

function createMeter({ isVisible = true, isText = true, pieces = [] }: Known): ChatMeter {
  const size = { tokensMax: 50, tokensLikely: 1, characters: 1, isText };
  const visibility = { isVisible, isMetered: isVisible };
  const asked = { model: { limits: {} }, rates, size, outputTokensAsked: 10, choices: 1, holdMs: 1 };
  const terms = createChatTerms({ ...asked, visibility });
  const meter = new ChatMeter({ request: { model: "talk", messages: [] }, size, terms, ...context });
  meter.begin(10);
  meter.take(pieces, cover);
  return meter;
}

const reports = [3, 5].map((tokens): ChatPiece => ({ choices: "[]", text: "", usage: createUsage(7, tokens) }));

test.each<[string, Known, boolean]>([
  ["all output was visible", { pieces: [piece] }, true],
  ["usage was reported with the last piece", { isVisible: false, pieces: reports }, true],
  ["usage was reported, but not with the last piece", { isVisible: false, pieces: [...reports, piece] }, false],
  ["only input was reported", { isVisible: false, pieces: reports.slice(0, 1) }, false],
  ["some output may be hidden", { isVisible: false, pieces: [piece] }, false],
  ["a non-streaming answer is in progress", { isVisible: false }, false],
  ["the input cannot be counted", { isText: false, pieces: [piece] }, false],
  ["only the usage report is missing", { pieces: [...reports, end] }, false],
])("the cost is known or unknown when %s", (_name, known, isKnown) => {
  expect(createMeter(known).isCostKnown()).toBe(isKnown);
});

const noReport = { reported: null, unitsHeld: 10, hasHungUp: false };

test("a usage report is charged; without one, our own count", () => {
  const meter = createMeter({ pieces: [piece] });
  const reported = createUsage(7, 3);
  expect(meter.conclude("if-written", { ...noReport, reported })).toMatchObject({
    usage: { inputTokens: 7, outputTokens: 3, isCounted: false },
    isDue: true,
  });
  expect(meter.conclude("if-written", noReport)).toMatchObject({ usage: { outputTokens: 1, isCounted: true } });
});

test("reported usage is due whatever the answer contains; without a report, any content is", () => {
  const reported = createUsage(7, 10);
  expect(createMeter({}).conclude("if-written", { ...noReport, reported }).isDue).toBe(true);
  expect(createMeter({}).conclude("if-written", noReport).isDue).toBe(false);
  expect(createMeter({}).conclude("if-written", { ...noReport, reported: createUsage(0, 0) }).isDue).toBe(false);
  const image = createMeter({ pieces: [{ ...end, isContent: true }] });
  expect(image.conclude("if-written", noReport).isDue).toBe(true);
  const whole = createMeter({});
  expect(whole.takeAnswer({ choices: "[]", text: "", isContent: true, usage: null }).reported).toBeNull();
  expect(whole.conclude("if-written", noReport).isDue).toBe(true);
  expect(createMeter({}).conclude("always", { ...noReport, hasHungUp: true })).toMatchObject({
    isDue: true,
    usage: { hasHungUp: true },
  });
  expect(createMeter({}).conclude("reported-or-hold", { ...noReport, reported }).isDue).toBe(true);
});

test("reported input far above the bound is charged as reported", () => {
  const reported = createUsage(115_886, 3);
  expect(createMeter({ pieces: [piece] }).conclude("if-written", { ...noReport, reported })).toMatchObject({
    usage: { inputTokens: 115_886, outputTokens: 3, isCounted: false },
  });
});

test.each<[string, ChatUsage]>([
  ["no count", uncountableUsage],
  ["a fraction", createUsage(7.5, 3)],
  ["a negative count", createUsage(7, -3)],
  ["more than any context", createUsage(50_000_001, 3)],
])("a report of %s is logged, and our own count is charged", (_name, reported) => {
  lines.length = 0;
  const { usage, isDue } = createMeter({ pieces: [piece] }).conclude("if-written", { ...noReport, reported });
  expect([isDue, usage.outputTokens, usage.isCounted]).toEqual([true, 1, true]);
  expect(lines).toMatchObject([{ level: "warn", request_id: "req_1", msg: "upstream reported impossible usage" }]);
});

test("an interrupted answer costs what was reported with its last piece, and never more", () => {
  const long = { ...piece, text: "far more letters than the upstream says that it has written so far" };
  const meter = createMeter({ pieces: [long, ...reports] });
  expect(meter.conclude("if-written", noReport)).toMatchObject({
    isDue: true,
    usage: { inputTokens: 7, outputTokens: 5, isCounted: false },
  });
  // Nothing was delivered.
  expect(createMeter({ pieces: reports }).conclude("if-written", noReport).isDue).toBe(false);
});

test("if only the upstream knows the cost and does not report it, the whole hold is charged", () => {
  const drained = { ...noReport, hasHungUp: true };
  expect(createMeter({ isVisible: false }).conclude("reported-or-hold", drained)).toMatchObject({
    isDue: true,
    usage: { inputTokens: 50, outputTokens: 10, hasHungUp: true },
  });
});
