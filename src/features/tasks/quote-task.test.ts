import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import type { GenerationRequest } from "../../providers/generation.ts";
import type { Price } from "../catalog/index.ts";
import { billTask, countDelivered, countPriceUnits, priceTask, quoteTask } from "./quote-task.ts";
import type { TaskOutput } from "./task.ts";

function createPrice(billingType: "per_call" | "duration", unit: string, price: bigint, minimum = 0n): Price {
  return {
    id: "price_1",
    modelId: "model",
    capability: null,
    planId: null,
    accountId: null,
    effectiveAt: new Date(0),
    minimumCharge: nano(minimum),
    amounts: { billingType, unit, price: nano(price) },
  };
}

function createOutput(durationMs: number | null): TaskOutput {
  return {
    type: "image",
    fileId: "file_1",
    contentType: "image/png",
    bytes: 1,
    sha256: "",
    width: 1,
    height: 1,
    durationMs,
    expiresAt: new Date(0),
  };
}

const image: GenerationRequest = { type: "image", prompt: "p", width: 1, height: 1, count: 4 };
const video: GenerationRequest = { type: "video", prompt: "p", durationSeconds: 5, aspectRatio: "16:9" };
const avatar: GenerationRequest = { type: "avatar", aspectRatio: "9:16" };
const speech: GenerationRequest = { type: "speech", text: "né 👋🏽!", voice: "v", format: "mp3", speed: 1 };

function quote(price: Price, request: GenerationRequest, audioSeconds: number | null = null) {
  return quoteTask(price, { request, audioSeconds, budgetAmount: null });
}

test("pictures are held by the piece, and charged by those that were delivered", () => {
  const terms = quote(createPrice("per_call", "image", 20n), image);
  expect(priceTask(terms)).toBe(80n);
  const delivered = countDelivered(terms, [createOutput(null), createOutput(null), createOutput(null)]);
  expect(delivered).toBe(3n);
  expect(billTask(terms, delivered)).toMatchObject({
    items: [{ name: "images", quantity: 3n, rate: 20n }],
    quotaUnits: 3n,
  });
});

test("more outputs than were asked for cost no more", () => {
  const terms = quote(createPrice("per_call", "image", 20n), image);
  expect(
    countDelivered(
      terms,
      Array.from({ length: 9 }, () => createOutput(null)),
    ),
  ).toBe(4n);
});

test("nothing delivered costs nothing", () => {
  const terms = quote(createPrice("per_call", "call", 20n), image);
  expect(countDelivered(terms, [])).toBe(0n);
});

test.each([
  [5_040, 5n],
  [5_000, 5n],
  [4_001, 5n],
  [4_000, 4n],
])("a film of %i ms for which 5 s were asked costs %i seconds", (durationMs, seconds) => {
  const terms = quote(createPrice("duration", "second", 50n), video);
  expect(priceTask(terms)).toBe(250n);
  expect(countDelivered(terms, [createOutput(durationMs)])).toBe(seconds);
});

test("an avatar is held for as long as its audio takes, and draws on the quota of films", () => {
  const terms = quote(createPrice("duration", "second", 30n, 1_000n), avatar, 12);
  expect(priceTask(terms)).toBe(1_000n);
  expect(terms.unitsMax).toBe(12n);
  expect(terms.quota).toEqual({ kind: "video", unitsMax: 12n });
});

test("speech counts characters as people do, and draws on the quota of text by tokens", () => {
  const terms = quote(createPrice("per_call", "1K characters", 15_000n), speech);
  // n, é, a space, the hand, its colour, the exclamation mark.
  expect(terms.unitsMax).toBe(6n);
  expect(priceTask(terms)).toBe(90n);
  expect(terms.quota).toEqual({ kind: "text", unitsMax: 2n });
  expect(countPriceUnits(terms, 6n)).toBe(1n);
  expect(countPriceUnits(terms, 1_001n)).toBe(2n);
  expect(countPriceUnits(terms, 0n)).toBe(0n);
});

test("a price by call is for the call, whatever it makes", () => {
  const terms = quote(createPrice("per_call", "call", 7n), image);
  expect(priceTask(terms)).toBe(7n);
  expect(countDelivered(terms, [createOutput(null)])).toBe(1n);
});

test("what a quota pays shrinks with what was delivered", () => {
  const terms = quote(createPrice("duration", "second", 50n), video);
  expect(billTask(terms, 3n).quotaUnits).toBe(3n);
  expect(billTask(terms, 5n).quotaUnits).toBe(5n);
});
