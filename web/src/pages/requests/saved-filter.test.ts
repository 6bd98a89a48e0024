import { expect, test } from "vitest";
import { addFilter, openFilter, parseFilters } from "./saved-filter.ts";

test("saved filters survive storage, and anything else in it is dropped", () => {
  const saved = addFilter([], { name: "Failures", search: { status: "5xx", period: "7d" } });
  expect(parseFilters(JSON.stringify(saved))).toEqual(saved);
  expect(parseFilters('[{"name":1},{"name":"x","search":{"status":2,"other":"y"}},null]')).toEqual([
    { name: "x", search: {} },
  ]);
  expect([parseFilters("{"), parseFilters(null), parseFilters('"text"')]).toEqual([[], [], []]);
});

test("a filter of the same name is replaced, and opening one clears the others", () => {
  const first = addFilter([], { name: "Mine", search: { status: "4xx" } });
  expect(addFilter(first, { name: "Mine", search: { model: "m" } })).toEqual([
    { name: "Mine", search: { model: "m" } },
  ]);
  expect(openFilter({ model: "m" })).toMatchObject({ model: "m", status: "", period: "", from: "" });
});
