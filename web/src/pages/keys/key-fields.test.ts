import { expect, test } from "vitest";
import { emptyKeyValues, fillKeyValues, type KeyValues, listKeyChanges, readKeyValues } from "./key-fields.ts";

const at = { now: new Date("2026-11-15T12:00:00Z"), timeZone: "Europe/Berlin" };
const read = (part: Partial<KeyValues>) => readKeyValues({ ...emptyKeyValues, name: "Server", ...part }, at);
const noLimits = {
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  tasks_in_flight: null,
};

test("a name alone is a key without restrictions", () => {
  expect(read({ name: "  Server " }).body).toEqual({
    name: "Server",
    expires_at: null,
    budget: null,
    models: null,
    endpoints: null,
    addresses: null,
    limits: noLimits,
    content_log: false,
  });
});

test("chosen restrictions are sent; ticked items of an unrestricted list are not", () => {
  const { body } = read({
    expiry: "30",
    budgetAmount: " 12.50 ",
    budgetPeriod: "week",
    isModelsLimited: true,
    models: ["a"],
    endpoints: ["chat"],
    addresses: "10.0.0.0/8, 192.0.2.1\n\n2001:db8::/32 ",
    tasks_in_flight: "3",
  });
  expect(body).toMatchObject({
    expires_at: "2026-12-15T12:00:00.000Z",
    budget: { amount: "12.50", period: "week" },
    models: ["a"],
    endpoints: null,
    addresses: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"],
    limits: { ...noLimits, tasks_in_flight: 3 },
    content_log: false,
  });
  expect(read({ expiry: "date", expiryDate: "2026-12-31" }).body?.expires_at).toBe("2026-12-31T23:00:00.000Z");
});

test.each([
  [{ name: " " }, "name"],
  [{ isModelsLimited: true }, "models"],
  [{ isEndpointsLimited: true }, "endpoints"],
  [{ expiry: "date" }, "expires_at"],
  [{ requests_per_minute: "many" }, "limits.requests_per_minute"],
  [{ tokens_per_minute: "0" }, "limits.tokens_per_minute"],
  [{ concurrent_requests: "1.5" }, "limits.concurrent_requests"],
  [{ tasks_in_flight: "1000000001" }, "limits.tasks_in_flight"],
] as const)("%j is rejected at %s", (part, field) => {
  expect(Object.keys(read({ ...part } as Partial<KeyValues>).problems ?? {})).toEqual([field]);
});

test("saving an unchanged key sends nothing, and a change is sent alone", () => {
  const values = fillKeyValues({
    object: "api_key",
    id: "key_1",
    name: "Server",
    kind: "secret",
    preview: null,
    created: 1,
    last_used: null,
    expires_at: "2027-01-01T00:00:00Z",
    revoked_at: null,
    models: ["a"],
    endpoints: ["chat"],
    addresses: ["10.0.0.0/8", "192.0.2.1"],
    budget: { amount: "5.00", period: "day", spent: "1.00", resets_at: null },
    limits: { ...noLimits, requests_per_minute: 60 },
    content_log: true,
  });
  const changes = (part: Partial<KeyValues>) => {
    const [before, after] = [readKeyValues(values, at).body, readKeyValues({ ...values, ...part }, at).body];
    return before === null || after === null ? null : listKeyChanges(before, after);
  };
  expect(changes({})).toEqual({});
  expect(changes({ expiry: "never" })).toEqual({ expires_at: null });
  expect(changes({ budgetAmount: "6" })).toEqual({ budget: { amount: "6", period: "day" } });
  expect(changes({ isModelsLimited: false, addresses: "" })).toEqual({ models: null, addresses: null });
  expect(changes({ requests_per_minute: "" })).toEqual({ limits: noLimits });
  expect(changes({ logsContent: false })).toEqual({ content_log: false });
});
