import { expect, test } from "vitest";
import type { ApiKey } from "../../api/fetch-keys.ts";
import { describeKeyStatus, isEnded, listLimits, listRestrictions } from "./key-labels.ts";

const noLimits = {
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  tasks_in_flight: null,
};
const plain: ApiKey = {
  object: "api_key",
  id: "key_1",
  name: "Server",
  kind: "secret",
  preview: "sk-slc-…abcd",
  created: 1,
  last_used: null,
  expires_at: null,
  revoked_at: null,
  models: null,
  endpoints: null,
  addresses: null,
  budget: null,
  limits: noLimits,
  content_log: false,
};
const now = new Date("2026-11-15T12:00:00Z");

test("few restrictions are listed, many are counted", () => {
  expect(listRestrictions(plain)).toEqual([]);
  const held: ApiKey = {
    ...plain,
    models: ["a", "b"],
    endpoints: ["chat", "files", "later"],
    addresses: ["10.0.0.0/8"],
    limits: { ...noLimits, tasks_in_flight: 2 },
  };
  expect(listRestrictions(held)).toEqual(["a, b", "3 endpoints", "10.0.0.0/8", "1 limit"]);
  expect(listRestrictions({ ...plain, endpoints: ["usage"] })).toEqual(["Usage and charges"]);
  expect(listLimits({ ...noLimits, tokens_per_minute: 50_000 })).toEqual(["Tokens per minute: 50,000"]);
});

const budget = { amount: "5.00", period: "month" as const, spent: "5.000000001", resets_at: null };

test.each([
  [{}, "Active", false],
  [{ expires_at: "2026-11-23T12:00:00Z" }, "Active", false],
  [{ expires_at: "2026-11-16T12:00:00Z" }, "Expires soon", false],
  [{ expires_at: "2026-11-15T12:00:00Z" }, "Expired", true],
  [{ budget }, "Budget exceeded", false],
  [{ budget: { ...budget, spent: "4.99" } }, "Active", false],
  [{ budget, expires_at: "2026-11-01T00:00:00Z" }, "Expired", true],
  [{ revoked_at: "2026-11-01T00:00:00Z", expires_at: "2026-11-02T00:00:00Z" }, "Revoked", true],
])("a key with %j is %s", (fields, name, ended) => {
  const key = { ...plain, ...fields };
  expect(describeKeyStatus(key, now).name).toBe(name);
  expect(isEnded(key, now)).toBe(ended);
});
