import { expect, test } from "vitest";
import { assignColours } from "./series-colours.ts";

const ids = ["chat", "chat-pro", "chat-max", "image", "video", "avatar", "drama", "speech"].map(
  (id) => `sandbox-${id}`,
);

test("a model keeps its colour alone, among others and in any order", () => {
  const together = assignColours(ids);
  expect(new Set(together.values()).size).toBe(ids.length);
  for (const id of ids) expect(assignColours([id]).get(id)).toBe(together.get(id));
  expect(assignColours(ids.toReversed())).toEqual(new Map([...together]));
});

test("no two series of a chart share a colour", () => {
  for (let run = 0; run < 200; run += 1) {
    const names = Array.from({ length: 6 }, (_, place) => `key_${run * 7919 + place * 104729}`);
    expect(new Set(assignColours(names).values()).size).toBe(names.length);
  }
});
