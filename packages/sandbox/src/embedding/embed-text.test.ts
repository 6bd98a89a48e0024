import { describe, expect, test } from "vitest";
import { dimensionsMax, embedText, embedTokens } from "./embed-text.ts";

function compare(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

function similarity(one: string, other: string, dimensions = dimensionsMax): number {
  return compare(embedText(one, dimensions), embedText(other, dimensions));
}

/** Questions, and the sentences that answer them. */
const library = [
  "You can reset your credentials on the login page if you have forgotten them.",
  "Parcels are delivered by courier within three days.",
  "We refund your money when you return a damaged item.",
  "Preheat the oven and bake the dough until the loaf is brown.",
  "Heavy showers and storms are forecast for the weekend.",
  "The puppy chased its ball across the lawn.",
  "A physician should look at a fever that lasts longer than three days.",
  "The central bank raised interest rates to calm the market.",
  "Our team scored the winning goal in the last minute.",
  "The spacecraft took pictures of the moons of Jupiter.",
];

describe("the nearest sentence is the related one", () => {
  test.each([
    ["How do I change my password?", 0],
    ["When will my package arrive?", 1],
    ["The product came broken, I want to be repaid", 2],
    ["bread recipe", 3],
    ["Will it rain on Saturday?", 4],
    ["a young dog playing in the garden", 5],
    ["My child is ill, do we need a doctor?", 6],
    ["What do investors think of the loan prices?", 7],
    ["Who won the football match?", 8],
    ["photos of planets", 9],
  ])("%s", (question, answer) => {
    for (const dimensions of [dimensionsMax, 384]) {
      const scores = library.map((sentence) => similarity(question, sentence, dimensions));
      expect(scores.indexOf(Math.max(...scores)), scores.map((score) => score.toFixed(2)).join(" ")).toBe(answer);
    }
  });
});

test.each([
  ["The car is fast.", "This automobile is quick.", "The soup is cold."],
  ["She was happy about the news.", "The message made her glad.", "The train leaves at noon."],
  ["programming errors", "bugs in software", "wild flowers"],
  ["recieve a paket", "receive a packet", "open a window"],
  ["今天天气很好", "今天的天气不错", "我想买一本书"],
])("%s is nearer to %s than to %s", (text, near, far) => {
  expect(similarity(text, near)).toBeGreaterThan(similarity(text, far) + 0.1);
});

test("the same text has the same unit vector, in any length", () => {
  const vector = embedText("The gate is open.", dimensionsMax);
  expect(embedText("The gate is open.", dimensionsMax)).toEqual(vector);
  for (const dimensions of [1, 3, 64, dimensionsMax]) {
    for (const text of ["The gate is open.", "…", " "]) {
      const shorter = embedText(text, dimensions);
      expect(shorter).toHaveLength(dimensions);
      expect(compare(shorter, shorter)).toBeCloseTo(1, 4);
    }
  }
});

test("lists with common tokens are similar", () => {
  const [one, near, far] = [
    [1, 2, 3, 4],
    [2, 3, 4, 5],
    [70, 80, 90, 10],
  ].map((list) => embedTokens(list, 128));
  if (one === undefined || near === undefined || far === undefined) throw new Error("unreachable");
  expect(compare(one, near)).toBeGreaterThan(compare(one, far) + 0.3);
});
