import { expect, test } from "vitest";
import { decideNext, type Member } from "./decide-next.ts";

const states = { s: "starting", r: "serving", l: "leaving" } as const;

/** `r2` is a process of the second generation that serves, `s1` one of the first that starts, `l1` one that leaves. */
function decide(text: string, wanted: { count: number; generation: number }): string {
  const members = text
    .split(" ")
    .filter((word) => word !== "")
    .map((word): Member => ({ state: states[word[0] as keyof typeof states], generation: Number(word.slice(1)) }));
  const next = decideNext(members, wanted);
  if (next.kind === "start") return `start ${next.count}`;
  return next.kind === "leave" ? `leave ${next.member.generation}` : "wait";
}

test.each([
  ["the first one starts alone", "", "start 1"],
  ["the others wait until it serves", "s1", "wait"],
  ["and then start together", "r1", "start 2"],
  ["each once", "r1 s1 s1", "wait"],
  ["nothing is to be done when all serve", "r1 r1 r1", "wait"],
  ["one that is gone is replaced", "r1 r1", "start 1"],
  ["also while another leaves", "r1 r1 l1", "start 1"],
])("%s", (_what, members, next) => {
  expect(decide(members, { count: 3, generation: 1 })).toBe(next);
});

test("old ones are replaced one after another, each by one that serves already", () => {
  const seen: string[] = [];
  for (const members of [
    "r1 r1",
    "r1 r1 s2",
    "r1 r1 r2",
    "l1 r1 r2",
    "r1 r2",
    "r1 r2 s2",
    "r1 r2 r2",
    "l1 r2 r2",
    "r2 r2",
  ])
    seen.push(decide(members, { count: 2, generation: 2 }));
  expect(seen).toEqual(["start 1", "wait", "leave 1", "wait", "start 1", "wait", "leave 1", "wait", "wait"]);
});

test("fewer than before leave one by one, the oldest first", () => {
  expect(decide("r1 r2 r2", { count: 1, generation: 2 })).toBe("leave 1");
  expect(decide("l1 r2 r2", { count: 1, generation: 2 })).toBe("wait");
  expect(decide("r2 r2", { count: 1, generation: 2 })).toBe("leave 2");
});
