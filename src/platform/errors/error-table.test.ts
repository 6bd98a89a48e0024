import { describe, expect, test } from "vitest";
import { type ErrorCode, type ErrorEntry, errorTable, getErrorEntry } from "./error-table.ts";

/** The table of the contract: status, type, codes. `model_unavailable` is there twice. */
const contract: readonly [status: number, type: string, codes: string][] = [
  [400, "invalid_request_error", "invalid_json missing_parameter invalid_parameter unknown_parameter"],
  [
    400,
    "invalid_request_error",
    "unsupported_capability prompt_too_long context_length_exceeded invalid_url invalid_file",
  ],
  [400, "invalid_request_error", "webhook_required content_policy_violation"],
  [401, "authentication_error", "missing_api_key invalid_api_key revoked_api_key expired_api_key"],
  [402, "insufficient_quota", "insufficient_balance key_budget_exceeded"],
  [403, "permission_error", "account_suspended key_not_permitted"],
  [404, "invalid_request_error", "not_found task_not_found file_not_found"],
  [404, "model_unavailable", "model_unavailable"],
  [405, "invalid_request_error", "method_not_allowed"],
  [406, "invalid_request_error", "not_acceptable"],
  [413, "invalid_request_error", "payload_too_large"],
  [415, "invalid_request_error", "unsupported_media_type"],
  [409, "invalid_request_error", "idempotency_in_progress already_completed task_not_cancelable"],
  [422, "invalid_request_error", "idempotency_key_reused"],
  [429, "rate_limit_error", "rate_limit_exceeded token_limit_exceeded concurrency_limit_exceeded"],
  [500, "api_error", "internal_error"],
  [501, "api_error", "endpoint_not_released"],
  [503, "api_error", "upstream_unavailable upstream_timeout overloaded shutting_down"],
  [503, "model_unavailable", "model_unavailable"],
];

/** Errors beyond the contract: malformed HTTP, endpoints we lack, shots of dramas, sign-in on the site, operators, quotes, abuse. */
const additions: typeof contract = [
  [400, "invalid_request_error", "malformed_request invalid_token"],
  [400, "invalid_request_error", "quote_expired quote_mismatch quote_not_found"],
  [402, "insufficient_quota", "daily_spend_cap"],
  [400, "invalid_request_error", "authorization_pending slow_down access_denied expired_token invalid_grant"],
  [409, "invalid_request_error", "already_answered task_canceled shot_not_available already_ended catalog_changed"],
  [401, "authentication_error", "not_signed_in wrong_credentials"],
  [404, "invalid_request_error", "not_offered"],
  [403, "permission_error", "reauthentication_required sign_up_closed cross_site_request"],
  [403, "permission_error", "second_factor_required operator_not_permitted view_read_only"],
  [403, "permission_error", "access_blocked disposable_email"],
  [429, "rate_limit_error", "too_many_attempts sign_up_limited"],
  [408, "invalid_request_error", "request_timeout"],
  [426, "invalid_request_error", "websocket_not_supported"],
  [431, "invalid_request_error", "headers_too_large"],
];

const entries: readonly (ErrorEntry & { name: string })[] = (Object.keys(errorTable) as ErrorCode[]).map((name) => ({
  ...getErrorEntry(name),
  name,
}));

function entriesOf(...statuses: number[]) {
  return entries.filter((entry) => statuses.includes(entry.status));
}

describe("the contract", () => {
  test("the table contains exactly the contract's statuses, types and codes, plus the additions above", () => {
    const expected = [...contract, ...additions].flatMap(([status, type, codes]) =>
      codes.split(" ").map((code) => `${status} ${type} ${code}`),
    );
    const actual = entries.map(({ status, type, wireCode, name }) => `${status} ${type} ${wireCode ?? name}`);
    expect(actual.toSorted()).toEqual(expected.toSorted());
  });

  test("only model_unavailable has two entries", () => {
    const renamed = entries.filter((entry) => entry.wireCode !== undefined);
    expect(renamed.map(({ name, wireCode }) => [name, wireCode])).toEqual([["model_unroutable", "model_unavailable"]]);
  });
});

describe("retries", () => {
  test.each(entriesOf(402, 501))("$status $name forbids SDKs to retry", (entry) => {
    expect(entry.forbidsRetry).toBe(true);
  });

  test.each(entriesOf(429, 503))("$status $name can succeed later", (entry) => {
    expect(entry.isRetryable).toBe(true);
    expect(entry.forbidsRetry).toBeUndefined();
  });

  test.each(entriesOf(503))("$status $name has a Retry-After", (entry) => {
    expect(entry.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(Number.isInteger(entry.retryAfterSeconds)).toBe(true);
  });

  test("no error both asks for a retry and forbids it", () => {
    expect(entries.filter((entry) => entry.isRetryable && entry.forbidsRetry === true)).toEqual([]);
    expect(entries.filter((entry) => !entry.isRetryable && entry.retryAfterSeconds !== undefined)).toEqual([]);
  });

  test("a 409 that cannot succeed forbids retries: SDKs retry every other 409", () => {
    for (const entry of entriesOf(409)) expect(entry.forbidsRetry === true, entry.name).toBe(!entry.isRetryable);
  });
});

test.each(entries)("$name has a meaning and a remedy in whole sentences", (entry) => {
  expect(entry.meaning).toMatch(/^[A-Z].+\.$/);
  expect(entry.remedy).toMatch(/^[A-Z].+\.$/);
});
