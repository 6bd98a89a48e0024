import { expect, test } from "vitest";
import { describeAttempt } from "./delivery-labels.ts";

test.each([
  [{ duration_ms: 12, status: 200 }, "returned 200 after 12 ms"],
  [{ duration_ms: 12, status: 500, error: "bad_status" }, "returned 500 after 12 ms"],
  [{ duration_ms: 15_002, error: "timeout" }, "timed out after 15 s"],
  [{ duration_ms: 3, status: 302, error: "redirect" }, "returned a redirect, which is not followed, after 3 ms"],
])("%j is described as %s", (attempt, words) => {
  expect(describeAttempt(attempt)).toBe(words);
});
