import { expect, test } from "vitest";
import { parseTraceparent, presentTraceparent } from "./traceparent.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test("a traceparent round-trips in the W3C format", () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, isSampled: true });
  expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId, isSampled: false });
  expect(parseTraceparent(`00-${traceId}-${spanId}-03`)?.isSampled).toBe(true);
  expect(parseTraceparent(presentTraceparent({ traceId, spanId }))).toEqual({ traceId, spanId, isSampled: true });
});

test("a later version may have extra fields, version 00 may not", () => {
  expect(parseTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, isSampled: true });
  expect(parseTraceparent(`00-${traceId}-${spanId}-01-more`)).toBeNull();
});

test.for([
  undefined,
  ["00", "01"],
  "",
  traceId,
  `ff-${traceId}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-1`,
  ` 00-${traceId}-${spanId}-01`,
])("%s is not a traceparent", (value) => {
  expect(parseTraceparent(value)).toBeNull();
});
