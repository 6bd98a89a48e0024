import { expect, test } from "vitest";
import { matchEntries } from "./match-entries.ts";

const entries = [
  { title: "Usage", alias: "spend cost" },
  { title: "API keys" },
  { title: "Images, video, speech", detail: "guide" },
  { title: "sandbox-image", detail: "Sandbox Image" },
  { title: "Monkeys" },
];
const match = (text: string, countMax = 9) => matchEntries(entries, text, countMax).map(({ title }) => title);

test("a title that begins so comes first, a word that does second, and what has it somewhere last", () => {
  expect(match("key")).toEqual(["API keys", "Monkeys"]);
  expect(match("image")).toEqual(["Images, video, speech", "sandbox-image"]);
  expect(match("MONK")).toEqual(["Monkeys"]);
});

test("every word must be there, in the title or in what else is known", () => {
  expect(match("guide speech")).toEqual(["Images, video, speech"]);
  expect(match("cost")).toEqual(["Usage"]);
  expect(match("usage speech")).toEqual([]);
  expect(match("(")).toEqual([]);
  expect(match("i", 1)).toHaveLength(1);
});
