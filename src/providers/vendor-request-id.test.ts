import { expect, test } from "vitest";
import { findVendorRequestId } from "./vendor-request-id.ts";

test("the vendor's own header wins over a proxy's", () => {
  const headers = { "cf-ray": "9a-FRA", "x-request-id": "req_1", "request-id": "req_2", "apim-request-id": "req_3" };
  expect(findVendorRequestId(headers, "openai-compatible")).toBe("req_1");
  expect(findVendorRequestId(headers, "anthropic")).toBe("req_2");
  expect(findVendorRequestId(headers, "azure")).toBe("req_3");
  expect(findVendorRequestId({ "x-amzn-requestid": "amz" }, "bedrock")).toBe("amz");
  expect(findVendorRequestId({ "cf-ray": "9a-FRA" }, "anthropic")).toBe("9a-FRA");
});

test("an id that is missing, repeated, too long or not printable is none", () => {
  const bad = [undefined, "", ["a", "b"], "a b", "a\tb", "\u0000", "né", "x".repeat(129)];
  for (const value of bad) expect(findVendorRequestId({ "x-request-id": value }, "openai-compatible")).toBeNull();
  expect(findVendorRequestId({ "x-request-id": "a b", "cf-ray": "ok" }, "openai-compatible")).toBe("ok");
  expect(findVendorRequestId({ "x-request-id": "x".repeat(128) }, "openai-compatible")).toHaveLength(128);
});
