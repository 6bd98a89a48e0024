import { expect, test } from "vitest";
import { AppError } from "../../../platform/errors/app-error.ts";
import { ProviderError, type ProviderErrorKind } from "../../../providers/contract.ts";
import { describeAppError, explainFailure } from "./explain-failure.ts";

test.for<[ProviderErrorKind, string, string | null, boolean]>([
  ["rejected", "invalid_parameter", "size", false],
  ["content-refused", "content_policy_violation", "prompt", false],
  ["too-long", "prompt_too_long", "prompt", false],
  ["timeout", "upstream_timeout", null, true],
  ["rate-limited", "upstream_unavailable", null, true],
  ["overloaded", "upstream_unavailable", null, true],
  ["key-refused", "upstream_unavailable", null, true],
  ["out-of-credit", "upstream_unavailable", null, true],
  ["quota-exceeded", "upstream_unavailable", null, true],
  ["model-unavailable", "upstream_unavailable", null, true],
  ["misconfigured", "upstream_unavailable", null, true],
  ["unexplained", "upstream_unavailable", null, true],
  ["unreachable", "upstream_unavailable", null, true],
  ["bad-answer", "upstream_unavailable", null, true],
])("a %s failure is reported as %s, in our own words", ([kind, code, param, isRetryable]) => {
  const explained = explainFailure(new ProviderError(kind, "vendor-9 at eu.vendor.example says no", { param: "size" }));
  expect(explained).toMatchObject({ code, param, isRetryable });
  expect(explained.message).not.toContain("vendor");
});

test.each(["avatar_file_id", "audio_file_id"])("a file in %s that the model cannot use is an invalid file", (param) => {
  const explained = explainFailure(new ProviderError("rejected", "vendor-9 found no face", { param }));
  expect(explained).toMatchObject({ code: "invalid_file", param, isRetryable: false });
  expect(explained.message).not.toContain("vendor");
});

test("a task reports an error as a request would", () => {
  const error = new AppError("invalid_url", "It leads nowhere.", { param: "input_images[0]", detail: { host: "h" } });
  expect(describeAppError(error)).toEqual({
    code: "invalid_url",
    message: "It leads nowhere.",
    param: "input_images[0]",
    isRetryable: false,
  });
});
