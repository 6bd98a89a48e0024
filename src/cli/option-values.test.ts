import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type KeyRestrictions, unrestricted } from "../features/accounts/index.ts";
import { nano, presentMoney } from "../lib/money.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { limitOptions, readLimits, readRestrictions, restrictionOptions } from "./option-values.ts";

/** A key with every restriction. */
const restricted: KeyRestrictions = {
  expiresAt: new Date("2027-01-01T00:00:00Z"),
  modelIds: ["talk"],
  endpoints: ["models"],
  addresses: ["10.0.0.0/8"],
  budget: { amount: nano(5_000_000_000n), period: "week" },
  limits: { requestsPerMinute: 10, tasksInFlight: 2 },
};

function findRefusal(read: () => unknown): { param: string | null; message: string } | null {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe("invalid_parameter");
    return { param: error.param, message: error.message };
  }
}

describe("absent options", () => {
  test("change nothing: only given options and current limits are returned", () => {
    expect(readRestrictions({}, restricted)).toEqual({ limits: restricted.limits });
    expect(readRestrictions({ models: "film" }, restricted)).toEqual({ modelIds: ["film"], limits: restricted.limits });
    expect(readLimits({}, restricted.limits)).toEqual(restricted.limits);
  });

  test("every option is read", () => {
    const values: Record<string, string> = { expires: "2028-01-01T00:00:00Z", budget: "1", "budget-period": "day" };
    const read = (name: string) => readRestrictions({ budget: "7", [name]: values[name] ?? "3" }, restricted);
    const without = readRestrictions({ budget: "7" }, restricted);
    for (const name of Object.keys(restrictionOptions)) expect(read(name), name).not.toEqual(without);
    expect(Object.keys(restrictionOptions)).toEqual(expect.arrayContaining(Object.keys(limitOptions)));
  });
});

describe("none", () => {
  test.each([
    ["expires", { expiresAt: null }],
    ["models", { modelIds: null }],
    ["endpoints", { endpoints: null }],
    ["addresses", { addresses: null }],
    ["budget", { budget: null }],
  ])("removes the restriction of --%s", (option, expected) => {
    expect(readRestrictions({ [option]: "none" }, restricted)).toEqual({ ...expected, limits: restricted.limits });
  });

  test("removes one limit and keeps the others", () => {
    const limits = readLimits({ "requests-per-minute": "none", "tokens-per-minute": "none" }, restricted.limits);
    expect(limits).toEqual({ tasksInFlight: 2 });
    expect(Object.keys(limits)).toEqual(["tasksInFlight"]);
    expect(restricted.limits).toEqual({ requestsPerMinute: 10, tasksInFlight: 2 });
  });
});

describe("limits", () => {
  test("each option sets its limit", () => {
    const options = {
      "requests-per-minute": "1",
      "tokens-per-minute": "2",
      "concurrent-requests": "3",
      "tasks-in-flight": "4",
    };
    const limits = { requestsPerMinute: 1, tokensPerMinute: 2, concurrentRequests: 3, tasksInFlight: 4 };
    expect(readLimits(options, restricted.limits)).toEqual(limits);
    expect(readRestrictions(options, restricted)).toEqual({ limits });
  });

  test.each(["", "-1", "1.5", "1e3", "ten", " 5", "5 ", "0x10", "12345678901", "None"])("%j is rejected", (value) => {
    expect(findRefusal(() => readLimits({ "tasks-in-flight": value }, {}))).toEqual({
      param: "tasks-in-flight",
      message: "--tasks-in-flight must be a whole number, or none.",
    });
  });
});

describe("lists", () => {
  test.each([
    ["talk", ["talk"]],
    ["talk,film", ["talk", "film"]],
    [" talk , film ", ["talk", "film"]],
    ["talk,,film,", ["talk", "film"]],
    ["", []],
    [" , ", []],
  ])("%j is split and trimmed, without empty items", (value, expected) => {
    const read = readRestrictions({ models: value, endpoints: value, addresses: value }, unrestricted);
    expect(read).toEqual({ modelIds: expected, endpoints: expected, addresses: expected, limits: {} });
  });
});

describe("a key's expiry", () => {
  test.each([
    ["2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
    ["2027-01-01T02:00:00+02:00", "2027-01-01T00:00:00.000Z"],
    ["2027-01-01T00:00Z", "2027-01-01T00:00:00.000Z"],
  ])("%s is parsed as %s", (value, moment) => {
    expect(readRestrictions({ expires: value }, unrestricted).expiresAt).toEqual(new Date(moment));
  });

  test.each([
    ...["", "tomorrow", "2027-01-01", "2027-01-01T00:00:00", "2027-13-01T00:00:00Z", "1798761600", "T00:00:00Z"],
    ...["2027-02-30T00:00:00Z", "2027-02-01T25:00:00Z"],
  ])("%j is rejected", (value) => {
    expect(findRefusal(() => readRestrictions({ expires: value }, unrestricted))).toEqual({
      param: "expires",
      message: "--expires must be a time with its offset, such as 2027-01-01T00:00:00Z, or none.",
    });
  });
});

describe("the budget", () => {
  const read = (options: Record<string, string>, current: KeyRestrictions = unrestricted) =>
    readRestrictions(options, current).budget;
  const five = nano(5_000_000_000n);
  const eight = nano(8_000_000_000n);

  test("without a period it is total, or keeps the current period", () => {
    expect(read({ budget: "8" })).toEqual({ amount: eight, period: "total" });
    expect(read({ budget: "8" }, restricted)).toEqual({ amount: eight, period: "week" });
  });

  test("a given period is used", () => {
    for (const period of ["total", "day", "week", "month"]) {
      expect(read({ budget: "8.00", "budget-period": period }, restricted)).toEqual({ amount: eight, period });
    }
  });

  test("a period alone keeps the current amount, and needs one", () => {
    expect(read({ "budget-period": "month" }, restricted)).toEqual({ amount: five, period: "month" });
    const refusal = findRefusal(() => read({ "budget-period": "month" }));
    expect(refusal).toEqual({
      param: "budget",
      message: "--budget must be a decimal with at most nine places, such as 10.00.",
    });
  });

  test("amounts are exact to nine places", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (amount) => {
        expect(read({ budget: presentMoney(nano(amount)) })?.amount).toBe(amount);
      }),
    );
  });

  test.each(["", "-1", "1e3", "1,5", "0.0000000001", "lots", "1234567890"])("%j is not an amount", (budget) => {
    expect(findRefusal(() => read({ budget, "budget-period": "day" }, restricted))?.param).toBe("budget");
  });

  test.each(["", "year", "Day", "none"])("%j is not a period", (period) => {
    expect(findRefusal(() => read({ budget: "8", "budget-period": period }, restricted))).toEqual({
      param: "budget-period",
      message: "--budget-period must be one of total, day, week, month.",
    });
  });
});
