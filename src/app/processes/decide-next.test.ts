import { expect, test } from "vitest";
import { decideNext, type Member } from "./decide-next.ts";

const states = { s: "starting", r: "serving", l: "leaving" } as const;

/** `r2`: a ready process of generation 2; `s1`: a starting one of generation 1; `l1`: a leaving one. */
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
  ["the first process starts alone", "", "start 1"],
  ["the others wait until it is ready", "s1", "wait"],
  ["the others then start together", "r1", "start 2"],
  ["each process starts once", "r1 s1 s1", "wait"],
  ["nothing happens when all are ready", "r1 r1 r1", "wait"],
  ["a dead process is replaced", "r1 r1", "start 1"],
  ["a dead process is replaced while another leaves", "r1 r1 l1", "start 1"],
])("%s", (_what, members, next) => {
  expect(decide(members, { count: 3, generation: 1 })).toBe(next);
});

test("old processes are replaced one by one, each after its successor is ready", () => {
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

test("a lower count removes the oldest processes one by one", () => {
  expect(decide("r1 r2 r2", { count: 1, generation: 2 })).toBe("leave 1");
  expect(decide("l1 r2 r2", { count: 1, generation: 2 })).toBe("wait");
  expect(decide("r2 r2", { count: 1, generation: 2 })).toBe("leave 2");
});
