import { describe, expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { endpointScopes } from "../../platform/http/endpoint-table.ts";
import { type KeyRestrictions, unrestricted } from "./account.ts";
import { requireRestrictions } from "./key-restrictions.ts";

const now = new Date("2026-06-01T00:00:00Z");
const around = { now, hasModel: (id: string) => id === "talk" || id === "film" };

/** The error for the restrictions, or `null` if they are valid. */
function findRefusal(fields: Partial<KeyRestrictions>): { code: string; param: string | null; message: string } | null {
  try {
    requireRestrictions({ ...unrestricted, ...fields }, around);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, param, message } = error;
    return { code, param, message };
  }
}

const code = "invalid_parameter";

test("a key may have no restrictions or all of them", () => {
  const limits = { requestsPerMinute: 1, tokensPerMinute: 1_000_000_000, concurrentRequests: 5, tasksInFlight: 5 };
  const lists = { modelIds: ["talk", "film"], endpoints: [...endpointScopes], addresses: ["10.0.0.0/8", "::1"] };
  expect(findRefusal({})).toBeNull();
  expect(findRefusal({ ...lists, limits, expiresAt: new Date("2027-01-01T00:00:00Z") })).toBeNull();
});

describe("the expiry of a key", () => {
  const refusal = { code, param: "expires_at", message: "`expires_at` must be in the future." };

  test.each([
    ["long ago", -1_000_000_000],
    ["a millisecond ago", -1],
    ["now", 0],
    ["an invalid date", Number.NaN],
  ])("is rejected when it is %s", (_when, offsetMs) => {
    expect(findRefusal({ expiresAt: new Date(now.getTime() + offsetMs) })).toEqual(refusal);
  });

  test("may be a millisecond from now", () => {
    expect(findRefusal({ expiresAt: new Date(now.getTime() + 1) })).toBeNull();
  });
});

describe("a list", () => {
  const endpoints = `There is no endpoint chats. Use ${endpointScopes.join(", ")}.`;
  test.each<[Partial<KeyRestrictions>, string, string]>([
    [{ modelIds: ["talk", "gone", "lost"] }, "models[1]", "There is no model gone."],
    [{ modelIds: [""] }, "models[0]", "There is no model ."],
    [{ endpoints: ["models", "chats"] }, "endpoints[1]", endpoints],
    [{ addresses: ["10.0.0.1", "10.0.0.0/33"] }, "addresses[1]", "10.0.0.0/33 is not an IP address or network."],
    [{ addresses: ["example.com"] }, "addresses[0]", "example.com is not an IP address or network."],
    [{ addresses: ["0.0.0.0/0"] }, "addresses[0]", "0.0.0.0/0 is not an IP address or network."],
  ])("%j names its first invalid item", (fields, param, message) => {
    expect(findRefusal(fields)).toEqual({ code, param, message });
  });

  test.each([
    ["modelIds", "models", "talk"],
    ["endpoints", "endpoints", "models"],
    ["addresses", "addresses", "10.0.0.1"],
  ])("of %s has 1 to 1000 items", (field, param, item) => {
    const refusal = { code, param, message: `\`${param}\` must have 1 to 1000 items.` };
    const refuse = (count: number) => findRefusal({ [field]: Array.from({ length: count }, () => item) });
    expect([0, 1001].map(refuse)).toEqual([refusal, refusal]);
    expect([1, 1000].map(refuse)).toEqual([null, null]);
  });
});

describe("a limit", () => {
  const message = "A limit must be a whole number from 1 to 1000000000.";

  test.each([0, -1, 1.5, 1_000_000_001, Number.NaN, Number.POSITIVE_INFINITY])("cannot be %d", (limit) => {
    const refusal = findRefusal({ limits: { requestsPerMinute: 5, tasksInFlight: limit } });
    expect(refusal).toMatchObject({ code, message });
    expect(refusal?.param).toMatch(/^tasks_?in_?flight$/i);
  });

  test.each([1, 1_000_000_000])("may be %d", (limit) => {
    expect(findRefusal({ limits: { tokensPerMinute: limit } })).toBeNull();
  });
});

test("a budget may be zero: such a key can only read", () => {
  expect(findRefusal({ budget: { amount: nano(0n), period: "day" } })).toBeNull();
});
