import { expect, test } from "vitest";
import { shareSlots } from "./share-slots.ts";

const noneHeld = { heldByAccount: new Map<string, number>() };

function need(lane: string, room: number) {
  return { lane, accountId: lane.slice(0, 1), room };
}

test("every lane gets all it has room for if there are enough slots", () => {
  expect([...shareSlots([need("a1", 10), need("a2", 0), need("b1", 3)], 100, noneHeld)]).toEqual([
    ["a1", 10],
    ["b1", 3],
  ]);
});

test("accounts get equal shares, however many lanes they have, and unused shares go to the others", () => {
  const many = Array.from({ length: 50 }, (_, index) => need(`a${index}`, 10));
  const shares = shareSlots([...many, need("b1", 10), need("c1", 2)], 30, noneHeld);
  const sumOf = (account: string): number =>
    [...shares].filter(([lane]) => lane.startsWith(account)).reduce((sum, [, count]) => sum + count, 0);
  expect([sumOf("a"), sumOf("b"), sumOf("c")]).toEqual([18, 10, 2]);
});

test("the account that holds the least is first if there are too few slots", () => {
  const heldByAccount = new Map([
    ["a", 399],
    ["b", 5],
  ]);
  const needs = [need("a1", 10), need("b1", 10), need("c1", 10)];
  expect([...shareSlots(needs, 1, { heldByAccount })]).toEqual([["c1", 1]]);
  expect([...shareSlots(needs, 2, { heldByAccount })].map(([lane]) => lane)).toEqual(["c1", "b1"]);
});

test("no free slots, no shares", () => {
  expect([...shareSlots([need("a1", 10)], 0, noneHeld)]).toEqual([]);
});
