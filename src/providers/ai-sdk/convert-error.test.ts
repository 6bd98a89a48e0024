import { APICallError } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProviderErrorKind } from "../contract.ts";
import { convertError, convertErrorBody } from "./convert-error.ts";
import { anthropicError } from "./fixtures/anthropic-answers.ts";
import { googleError } from "./fixtures/google-answers.ts";

const now = new Date("2026-11-15T12:00:00Z");

function fail(statusCode: number, body: unknown, responseHeaders: Record<string, string> = {}) {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  const url = "https://canary.example/v1";
  return convertError(
    new APICallError({
      message: "canary",
      url,
      requestBodyValues: { prompt: "secret" },
      statusCode,
      responseBody,
      responseHeaders,
    }),
    now,
  );
}

describe("the vendor's answer", () => {
  test.for<[number, unknown, ProviderErrorKind]>([
    [400, anthropicError("invalid_request_error"), "rejected"],
    [400, anthropicError("invalid_request_error", "prompt is too long: 201 tokens > 200 maximum"), "too-long"],
    [400, anthropicError("invalid_request_error", "input length and `max_tokens` exceed context limit"), "too-long"],
    [
      400,
      anthropicError("invalid_request_error", "Your credit balance is too low to access the API."),
      "out-of-credit",
    ],
    [400, anthropicError("invalid_request_error", "Output blocked by content filtering policy"), "content-refused"],
    [401, anthropicError("authentication_error"), "key-refused"],
    [402, anthropicError("billing_error"), "out-of-credit"],
    [403, anthropicError("permission_error"), "unexplained"],
    [404, anthropicError("not_found_error"), "unexplained"],
    [413, anthropicError("request_too_large"), "too-long"],
    [429, anthropicError("rate_limit_error"), "rate-limited"],
    [429, anthropicError("rate_limit_error", "You have reached your spend limit."), "quota-exceeded"],
    [500, anthropicError("api_error"), "overloaded"],
    [500, anthropicError("api_error", "The billing of your usage limits failed."), "overloaded"],
    [504, anthropicError("timeout_error"), "timeout"],
    [529, anthropicError("overloaded_error"), "overloaded"],
    [400, googleError(400, "INVALID_ARGUMENT"), "rejected"],
    [
      400,
      { error: { status: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key." } },
      "key-refused",
    ],
    [
      400,
      {
        error: {
          status: "INVALID_ARGUMENT",
          message: "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        },
      },
      "too-long",
    ],
    [400, googleError(400, "FAILED_PRECONDITION"), "rejected"],
    [403, googleError(403, "PERMISSION_DENIED"), "unexplained"],
    [404, googleError(404, "NOT_FOUND"), "unexplained"],
    [429, googleError(429, "RESOURCE_EXHAUSTED"), "rate-limited"],
    [500, googleError(500, "INTERNAL"), "overloaded"],
    [503, googleError(503, "UNAVAILABLE"), "overloaded"],
    [504, googleError(504, "DEADLINE_EXCEEDED"), "timeout"],
    [400, { error: { code: "context_length_exceeded", type: "invalid_request_error" } }, "too-long"],
    [429, { error: { code: "insufficient_quota", type: "insufficient_quota" } }, "out-of-credit"],
    [400, "<html>canary</html>", "unexplained"],
    [401, "", "key-refused"],
    [408, "", "timeout"],
    [422, "[]", "unexplained"],
    [502, "null", "overloaded"],
    [529, "busy: usage limits of our api key", "overloaded"],
    [200, "not JSON", "bad-answer"],
    [301, "", "bad-answer"],
  ])("%i %o means %s", ([status, body, kind]) => {
    const error = fail(status, body);
    expect(error.kind).toBe(kind);
    // Our request's body is the caller's, and must not be logged.
    expect(JSON.stringify([error.detail, error.message, String(error.cause)])).not.toContain("secret");
    expect(error.message).not.toContain("canary");
  });

  test("names the field at fault if it is one of ours", () => {
    const paramOf = (message: string) => fail(400, anthropicError("invalid_request_error", message)).param;
    expect(paramOf("temperature: Input should be less than 1")).toBe("temperature");
    expect(paramOf("tools.0.custom.input_schema: JSON schema is invalid")).toBe("tools");
    expect(paramOf("stop_sequences.0: each must contain non-whitespace")).toBe("stop");
    expect(paramOf("canary.beta: unknown")).toBeNull();
    expect(fail(429, anthropicError("rate_limit_error", "messages: too many")).param).toBeNull();
  });

  test.for<[Record<string, string>, unknown[], number | null]>([
    [{ "retry-after": "7" }, [], 7000],
    [{ "retry-after": "0.5" }, [], 500],
    [{ "retry-after-ms": "1500" }, [], 1500],
    [{ "retry-after": "Sun, 15 Nov 2026 12:00:30 GMT" }, [], 30_000],
    [{ "retry-after": "Sun, 15 Nov 2026 11:00:00 GMT" }, [], 0],
    [{ "retry-after": "soon" }, [], null],
    [{ "retry-after": "999999999" }, [], 24 * 3_600_000],
    [{}, [{ retryDelay: "37.5s" }], 37_500],
    [{}, [{ retryDelay: "forever" }, null, 7], null],
    [{}, [{ retryDelay: "10s" }, { violations: [{ quotaId: "GenerateRequestsPerDayPerProject" }] }], 3_600_000],
    [{}, [], null],
  ])("has a retry time: %o, %o", ([headers, details, retryAfterMs]) => {
    expect(fail(429, googleError(429, "RESOURCE_EXHAUSTED", details), headers).retryAfterMs).toBe(retryAfterMs);
    expect(fail(400, googleError(400, "INVALID_ARGUMENT", details), headers).retryAfterMs).toBeNull();
  });
});

describe("an error in a stream", () => {
  test("is classified by its text", () => {
    expect(convertErrorBody({ code: 503, status: "UNAVAILABLE", message: "busy" }, now).kind).toBe("overloaded");
    expect(
      convertError({ type: "overloaded_error", statusCode: 529, data: { type: "overloaded_error" } }, now).kind,
    ).toBe("overloaded");
    expect(convertError({ message: "canary", code: "rate_limit_exceeded" }, now).kind).toBe("rate-limited");
    expect(convertErrorBody("canary", now).kind).toBe("overloaded");
    expect(convertErrorBody({ status: "NEW_WORD" }, now).kind).toBe("overloaded");
    expect(convertErrorBody({}, now).kind).toBe("bad-answer");
  });
});

test.for<[string, ProviderErrorKind]>([
  ["AI_UnsupportedFunctionalityError", "rejected"],
  ["AI_InvalidPromptError", "rejected"],
  ["AI_LoadAPIKeyError", "key-refused"],
  ["AI_TypeValidationError", "bad-answer"],
  ["TypeError", "bad-answer"],
])("%s of the package means %s", ([name, kind]) => {
  expect(convertError(Object.assign(new Error("canary"), { name }), now).kind).toBe(kind);
});

test("anything thrown, or in an error's body, becomes a ProviderError", () => {
  fc.assert(
    fc.property(fc.anything(), fc.integer({ min: 100, max: 999 }), fc.jsonValue(), (thrown, status, body) => {
      expect(convertError(thrown, now).name).toBe("ProviderError");
      expect(convertErrorBody(thrown, now).name).toBe("ProviderError");
      expect(fail(status, { error: body }).name).toBe("ProviderError");
    }),
  );
});
