import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { ProviderErrorKind } from "../contract.ts";
import { compileDialect } from "./dialects/compile-dialect.ts";
import { mistral } from "./dialects/mistral.ts";
import { readUpstreamError } from "./read-upstream-error.ts";

const clock = createTestClock(new Date("2026-01-01T00:00:00Z"));

function read(status: number, body: unknown, headers: Record<string, string> = {}) {
  return readUpstreamError({ status, headers, body, clock });
}

function say(code: unknown, message = "x", more = {}) {
  return { error: { message, type: "some_error", param: null, code, ...more } };
}

test.each<[number, unknown, ProviderErrorKind]>([
  [400, say(null), "rejected"],
  [404, say("file_not_found", "No such file."), "rejected"],
  [413, say(null), "too-long"],
  [422, { detail: [{ loc: ["body"], msg: "wrong" }] }, "rejected"],
  [400, say("context_length_exceeded"), "too-long"],
  [400, say("string_above_max_length"), "too-long"],
  [400, say(null, "This model's maximum context length is 128 tokens."), "too-long"],
  [413, say(null, "The prompt is too long: 9 tokens"), "too-long"],
  [400, say("content_filter"), "content-refused"],
  [400, say("content_policy_violation"), "content-refused"],
  [400, say("moderation_blocked"), "content-refused"],
  [400, say("data_inspection_failed"), "content-refused"],
  [404, say("model_not_found"), "model-unavailable"],
  [404, say(404, "The model `x` does not exist."), "model-unavailable"],
  [404, undefined, "unexplained"],
  [404, { error: "model 'x' not found" }, "model-unavailable"],
  [400, say("invalid_api_key"), "key-refused"],
  [401, say(null), "key-refused"],
  [402, undefined, "out-of-credit"],
  [403, say(null), "unexplained"],
  [408, undefined, "timeout"],
  [429, say("rate_limit_exceeded"), "rate-limited"],
  [429, undefined, "rate-limited"],
  [429, say("insufficient_quota"), "out-of-credit"],
  [429, say("credit_balance_exhausted"), "out-of-credit"],
  [409, undefined, "overloaded"],
  [500, say("server_error"), "overloaded"],
  [503, undefined, "overloaded"],
  [529, undefined, "overloaded"],
  [405, undefined, "unexplained"],
  [415, say(null), "unexplained"],
  [200, say("rate_limit_exceeded"), "rate-limited"],
  [200, say("insufficient_quota"), "out-of-credit"],
  [200, say(429), "rate-limited"],
  [200, say("502"), "overloaded"],
  [200, say("content_filter"), "content-refused"],
  [200, say("context_length_exceeded"), "too-long"],
  [200, say(null, "x", { type: "invalid_request_error" }), "rejected"],
  [200, say("server_error"), "overloaded"],
  [200, { error: "out of luck" }, "overloaded"],
])("status %i with %j is %s", (status, body, kind) => {
  expect(read(status, body).kind).toBe(kind);
});

test.each([
  ["an error in an error", { error: { message: "M", code: "C" } }],
  ["a bare error", { object: "error", message: "M", code: "C" }],
  ["an error in a list", [{ error: { message: "M", code: "C" } }]],
])("%s is found for the log", (_what, body) => {
  expect(read(400, body).detail).toEqual({ status: 400, code: "C", message: "M" });
});

test("a text instead of an error object is logged", () => {
  expect(read(500, { error: "M" }).detail).toMatchObject({ message: "M" });
  expect(read(500, { detail: "M" }).detail).toMatchObject({ message: "M" });
});

test("a long message is cut for the log, and is nowhere else", () => {
  const error = read(400, say("code_9", "vendor ".repeat(1000)));
  expect(String(error.detail?.message)).toHaveLength(500);
  expect(error.message).toBe("The upstream returned an error with status 400.");
});

test.each([
  ["messages", "messages"],
  ["messages[0].content[12].image_url.url", "messages[0].content[12].image_url.url"],
  ["response_format.json_schema", "response_format.json_schema"],
  ["model", null],
  ["vendor_thing", null],
  ["messages[0].Content", null],
  ["messages.", null],
  ["messages[0]; see vendor.example", null],
  ["messages".padEnd(300, "s"), null],
  [`messages${".a".repeat(200)}`, null],
  [12, null],
])("the field %s is reported to the caller as %s", (param, told) => {
  expect(read(400, say(null, "x", { param })).param).toBe(told);
});

test.each([
  [["body", "messages", 0, "user", "name"], "messages[0].name"],
  [["body", "random_seed"], "seed"],
  [["body", "tools", 1, "function", "parameters"], "tools[1].function.parameters"],
  [["body", "safe_prompt"], null],
  [["body"], null],
  [[{}, null], null],
  ["body", null],
])("the place %j is reported to the caller as %s", (loc, told) => {
  const body = { object: "error", message: { detail: [{ type: "extra_forbidden", loc, msg: "Extra inputs" }] } };
  const { nameField } = compileDialect(mistral);
  expect(readUpstreamError({ status: 422, headers: {}, body, clock, nameField }).param).toBe(told);
});

test("a field is reported only if the request was at fault", () => {
  expect(read(500, say(null, "x", { param: "messages" })).param).toBeNull();
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after": "0.25" }, 250],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "999999999" }, 86_400_000],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "-5" }, null],
  [{}, null],
])("the retry time of %j is %s ms", (headers, waitMs) => {
  expect(read(429, undefined, headers as Record<string, string>).retryAfterMs).toBe(waitMs);
  expect(read(503, undefined, headers as Record<string, string>).retryAfterMs).toBe(waitMs);
  expect(read(400, undefined, headers as Record<string, string>).retryAfterMs).toBeNull();
});

test("any body can be read", () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.jsonValue(), fc.boolean(), (status, value, isInside) => {
      const error = read(status, isInside ? { error: value } : value);
      expect(String(error.detail?.message).length).toBeLessThanOrEqual(500);
    }),
  );
});
