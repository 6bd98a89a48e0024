import { expect, test } from "vitest";
import { readFilter, sumCounts } from "./task-filter.ts";

test("days are in the account's time zone, and invalid filters are dropped", () => {
  const search = { view: "table", status: "nonsense", type: "drama", q: "lamp", from: "2026-11-15", to: "2026-11-15" };
  expect(readFilter(search, "Asia/Tokyo")).toEqual({
    type: "drama",
    q: "lamp",
    from: "2026-11-14T15:00:00.000Z",
    to: "2026-11-15T15:00:00.000Z",
  });
  expect(readFilter({ from: "2026-02-31", model: "m" }, "UTC")).toEqual({ model: "m" });
});

test("status counts respect the chosen type, and vice versa", () => {
  const counts = {
    object: "list" as const,
    has_more: false,
    data: [
      { status: "succeeded" as const, type: "image" as const, count: 3 },
      { status: "failed" as const, type: "image" as const, count: 2 },
      { status: "succeeded" as const, type: "video" as const, count: 5 },
    ],
  };
  const { byStatus, byType } = sumCounts(counts, { type: "image", status: "succeeded" });
  expect([byStatus(null), byStatus("succeeded"), byStatus("failed"), byStatus("queued")]).toEqual([5, 3, 2, 0]);
  expect([byType(null), byType("image"), byType("video"), byType("speech")]).toEqual([8, 3, 5, 0]);
  expect(sumCounts(undefined, {}).byType(null)).toBe(0);
});
