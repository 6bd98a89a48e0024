import { expect, test } from "vitest";
import { readRequestsView, writePeriod } from "./requests-view.ts";

const nowMs = Date.parse("2026-11-17T12:34:56Z");

test("without search parameters it is the last day, to the minute, without an end", () => {
  expect(readRequestsView({}, nowMs)).toEqual({
    period: "24h",
    days: null,
    filter: { from: "2026-11-16T12:34:00.000Z" },
    isFiltered: false,
    isOpen: true,
  });
  expect(readRequestsView({ period: "unknown" }, nowMs).period).toBe("24h");
  expect(readRequestsView({ period: "1h" }, nowMs).filter.from).toBe("2026-11-17T11:34:00.000Z");
});

test("filters map to the API's, and a custom range overrides a period", () => {
  const span = { from: "2026-11-17T10:00:00Z", to: "2026-11-17T11:00:00Z" };
  const words = { model: "sandbox-chat", key: "key_1", status: "5xx", error: "internal_error", wire: "chat" };
  expect(readRequestsView({ ...span, ...words, period: "1h" }, nowMs)).toEqual({
    period: "span",
    days: null,
    filter: {
      ...{ ...span, model: "sandbox-chat", key_id: "key_1", status: "5xx" },
      ...{ error_code: "internal_error", wire: "chat" },
    },
    isFiltered: true,
    isOpen: false,
  });
  expect(readRequestsView({ from: "yesterday", to: "today" }, nowMs).period).toBe("24h");
});

test("a custom range of days includes its last day", () => {
  const view = readRequestsView({ from: "2026-11-10", to: "2026-11-12" }, nowMs);
  expect(view).toMatchObject({ period: "own", days: { first: "2026-11-10", last: "2026-11-12" }, isOpen: false });
  expect(view.filter).toEqual({ from: "2026-11-10", to: "2026-11-13" });
  expect(writePeriod("own", "2026-11-17")).toEqual({ period: "", from: "2026-11-17", to: "2026-11-17" });
});

test("choosing a period removes a custom range", () => {
  expect(writePeriod("24h")).toEqual({ period: "", from: "", to: "" });
  expect(writePeriod("7d")).toEqual({ period: "7d", from: "", to: "" });
});
