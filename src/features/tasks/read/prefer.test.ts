import { expect, test } from "vitest";
import { parsePrefer } from "./prefer.ts";

test.for<[string | string[] | undefined, { waitMs: number | null; isAsync: boolean }]>([
  [undefined, { waitMs: null, isAsync: false }],
  ["wait=10", { waitMs: 10_000, isAsync: false }],
  ["respond-async, wait=60", { waitMs: 60_000, isAsync: true }],
  ['Respond-Async; Wait = "5"', { waitMs: 5_000, isAsync: true }],
  [["respond-async", "wait=0"], { waitMs: 0, isAsync: true }],
  ["return=minimal, handling=lenient", { waitMs: null, isAsync: false }],
])("Prefer: %s is parsed", ([header, preference]) => {
  expect(parsePrefer(header)).toEqual(preference);
});

test.each(["wait=61", "wait=-1", "wait=1.5", "wait=soon", "wait="])(
  "Prefer: %s is rejected with its name",
  (header) => {
    expect(() => parsePrefer(header)).toThrow(expect.objectContaining({ code: "invalid_parameter", param: "Prefer" }));
  },
);
