import { expect, test } from "vitest";
import { decideEnding } from "./request-record.ts";

test.for([
  ["answered", { status: 200, isAborted: false, hasFailed: false }],
  ["answered", { status: 304, isAborted: false, hasFailed: false }],
  ["refused", { status: 402, isAborted: false, hasFailed: true }],
  ["refused", { status: 409, isAborted: false, hasFailed: false }],
  ["failed", { status: 503, isAborted: false, hasFailed: true }],
  ["hung_up", { status: 499, isAborted: true, hasFailed: false }],
  ["hung_up", { status: 200, isAborted: true, hasFailed: false }],
  ["broken_off", { status: 200, isAborted: false, hasFailed: true }],
  ["broken_off", { status: 200, isAborted: true, hasFailed: true }],
  ["refused", { status: 408, isAborted: true, hasFailed: true }],
] as const)("%s: %j", ([ending, end]) => {
  expect(decideEnding(end)).toBe(ending);
});
