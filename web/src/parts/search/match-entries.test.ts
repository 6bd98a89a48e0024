import { expect, test } from "vitest";
import { matchEntries } from "./match-entries.ts";

const entries = [
  { title: "Usage", alias: "spend cost image" },
  { title: "Monkeys" },
  { title: "API keys" },
  { title: "sandbox-image", detail: "Sandbox Image" },
  { title: "Images, video, speech", detail: "guide" },
];
const match = (text: string, countMax = 9) => matchEntries(entries, text, countMax).entries.map(({ title }) => title);

test("a title prefix ranks first, then a word prefix, then an alias", () => {
  expect(match("key")).toEqual(["API keys", "Monkeys"]);
  expect(match("image")).toEqual(["Images, video, speech", "sandbox-image", "Usage"]);
  expect(match("MONK")).toEqual(["Monkeys"]);
  expect(["images", "box-image", "cost", "nothing"].map((text) => matchEntries(entries, text, 1).rank)).toEqual([
    0,
    2,
    3,
    Number.POSITIVE_INFINITY,
  ]);
});

test("every word must match the title, detail or alias", () => {
  expect(match("guide speech")).toEqual(["Images, video, speech"]);
  expect(match("usage speech")).toEqual([]);
  expect(match("(")).toEqual([]);
  expect(match("i", 1)).toHaveLength(1);
});
