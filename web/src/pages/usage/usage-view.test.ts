import { expect, test } from "vitest";
import { readUsageView } from "./usage-view.ts";

const here = { now: new Date("2026-11-15T23:30:00Z"), timeZone: "Asia/Tokyo" };

test("without search parameters it is the last thirty days in the account's time zone, including today", () => {
  expect(readUsageView({}, here)).toEqual({
    ...{ days: "30", first: "2026-10-18", last: "2026-11-16", problem: null, by: "model", show: "charge", cut: "day" },
    filter: { from: "2026-10-18", to: "2026-11-17" },
  });
});

test("unknown values are ignored", () => {
  expect(readUsageView({ days: "8", by: "moon", show: "?" }, here)).toEqual(readUsageView({}, here));
});

test("one or two days are cut into hours, and filters are sent", () => {
  const search = { from: "2026-11-01", to: "2026-11-02", by: "key", show: "tokens", model: "a", key: "key_1" };
  expect(readUsageView(search, here)).toMatchObject({
    ...{ days: "own", cut: "hour", by: "key", show: "tokens", problem: null },
    filter: { from: "2026-11-01", to: "2026-11-03", model: "a", key_id: "key_1" },
  });
  expect(readUsageView({ from: "2026-11-01", to: "2026-11-03" }, here).cut).toBe("day");
});

test.for([
  [{ from: "2026-11-02", to: "2026-11-01" }, "Choose a last day after the first day."],
  [{ from: "2026-11-02" }, "Choose the first and the last day."],
  [{ from: "2026-02-30", to: "2026-11-01" }, "Choose the first and the last day."],
  [{ from: "2025-01-01", to: "2026-02-05" }, "Choose at most 400 days."],
] as const)("%j: %s", ([search, problem]) => {
  expect(readUsageView(search, here).problem).toBe(problem);
});
