import { expect, test } from "vitest";
import { describeDays, groupDays } from "./describe-days.ts";

const days = (["none", "ok", "ok", "down", "few"] as const).map((state) => ({ state, uptime: null }));

test("days are described by state, the worst first", () => {
  expect(describeDays(days)).toBe("5 days: 1 down, 2 operational, 1 with few calls, 1 without calls");
});

test("each state has the places of its days", () => {
  expect(groupDays(days)).toEqual([
    { state: "none", places: [0] },
    { state: "ok", places: [1, 2] },
    { state: "down", places: [3] },
    { state: "few", places: [4] },
  ]);
});
