import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findViolations, rollUpUsage } from "../../src/features/ledger/index.ts";
import { nano, parseMoney, presentMoney } from "../../src/lib/money.ts";
import {
  openUsageStage,
  toAmount,
  type UsageCaller,
  type UsageStage,
  usageModels,
} from "../harness/ledger/usage-stage.ts";
import { signUpVisitor } from "../harness/site/site-visitor.ts";

type Sums = {
  calls: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  images: number;
  seconds: number;
  characters: number;
  charge: string;
  quota: { text: number; image: number; video: number };
};
type Row = Sums & { from?: string; to?: string; model?: string; key_id?: string };
type Usage = { currency: string; time_zone: string; from: string; to: string; data: Row[]; total: Sums };
type Charge = { id: string; model: string; key_id: string; charge: string; unit: string; quota_units: number };
type Page<T> = { data: T[]; has_more: boolean; next_cursor: string | null };

let stage: UsageStage;
let caller: UsageCaller;
beforeAll(async () => {
  stage = await openUsageStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  stage.setTime("2026-11-15T12:00:00Z");
  caller = await stage.gateway.createCaller();
  await stage.book(caller.accountId, { kind: "top-up", amount: toAmount("1000") });
});

function readUsage(query = ""): Promise<Usage> {
  return stage.read(`/usage?${query}`, caller.key);
}

/** Rolls up what is older than ten seconds. */
const rollUp = (): Promise<void> => rollUpUsage({ database: stage.gateway.database, clock: stage.clock });

/** All pages of a list, one after another. */
async function readAll<T>(path: string): Promise<T[]> {
  const things: T[] = [];
  for (let after = ""; ; ) {
    const page: Page<T> = await stage.read(`${path}&limit=7${after}`, caller.key);
    things.push(...page.data);
    expect(page.next_cursor !== null).toBe(page.has_more);
    if (page.next_cursor === null) return things;
    after = `&after=${page.next_cursor}`;
  }
}

function sumMoney(amounts: readonly string[]): string {
  const toSigned = (text: string): bigint =>
    text.startsWith("-") ? -(parseMoney(text.slice(1)) ?? 0n) : (parseMoney(text) ?? 0n);
  return presentMoney(nano(amounts.reduce((sum, text) => sum + toSigned(text), 0n)));
}

const none: Sums = {
  ...{ calls: 0, input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, images: 0, seconds: 0, characters: 0 },
  charge: "0.00",
  quota: { text: 0, image: 0, video: 0 },
};

describe("the time range", () => {
  test("defaults to the last thirty days of the account's time zone, today included, without empty days", async () => {
    await stage.setTimeZone(caller.accountId, "America/New_York");
    expect(await readUsage()).toEqual({
      object: "usage",
      currency: "USD",
      time_zone: "America/New_York",
      from: "2026-10-17T04:00:00.000Z",
      to: "2026-11-16T05:00:00.000Z",
      data: [],
      total: none,
    });
  });

  test("is split into the account's days, to the millisecond", async () => {
    await stage.setTimeZone(caller.accountId, "Asia/Kathmandu");
    for (const moment of ["2026-11-09T18:14:59.999Z", "2026-11-09T18:15:00Z", "2026-11-10T18:14:59.999Z"]) {
      stage.setTime(moment);
      await stage.charge({ ...caller, items: { output_tokens: 1000n } });
    }
    stage.setTime("2026-11-15T12:00:00Z");
    const days = (await readUsage()).data.map(({ from, to, calls, charge }) => [from, to, calls, charge]);
    expect(days).toEqual([
      ["2026-11-08T18:15:00.000Z", "2026-11-09T18:15:00.000Z", 1, "0.20"],
      ["2026-11-09T18:15:00.000Z", "2026-11-10T18:15:00.000Z", 2, "0.40"],
    ]);
    // A day means its start in the account's time zone.
    const one = await readUsage("from=2026-11-10&to=2026-11-11");
    expect([one.from, one.to, one.total.calls]).toEqual(["2026-11-09T18:15:00.000Z", "2026-11-10T18:15:00.000Z", 2]);
    const part = await readUsage("from=2026-11-09T18:15:00.001Z&to=2026-11-10T18:14:59.999Z");
    expect(part.total.calls).toBe(0);
  });

  test.each([
    ["from=2026-11-02&to=2026-11-01", "to", /before/],
    ["from=2026-11-01&to=2026-11-01", "to", /before/],
    ["from=2026-12-01", "from", /before/],
    ["from=2025-10-01&to=2026-11-15", "from", /at most 400 days/],
    ["from=2026-10-01&to=2026-11-15&group_by=hour", "from", /at most 31 days when grouped by hour/],
    ["from=2026-02-30", "from", /a day such as/],
    ["to=yesterday", "to", /a day such as/],
    ["from=2026-11-01T12:00:00", "from", /with offset/],
    ["from=99999-01-01", "from", /a day such as/],
    [`from=${"1".repeat(100)}`, "from", /./],
    ["group_by=week", "group_by", /day, hour, model, key/],
    ["group_by=", "group_by", /day, hour, model, key/],
    ["group_by=day,hour", "group_by", /not both/],
    ["key_id=hello", "key_id", /./],
    ["model=a%20b", "model", /./],
    ["format=pdf", "format", /json, csv|csv/],
  ])("%s is rejected, and the error names %s", async (query, param, message) => {
    const response = await stage.gateway.get(`/usage?${query}`, caller.key);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
    expect(error).toMatchObject({ code: "invalid_parameter", param });
    expect(error.message).toMatch(message);
  });

  test("may be 400 days, or a month by the hour", async () => {
    await expect(readUsage("from=2025-10-12&to=2026-11-16")).resolves.toBeDefined();
    await stage.setTimeZone(caller.accountId, "Europe/Berlin");
    await expect(readUsage("from=2026-10-01&to=2026-11-01&group_by=hour")).resolves.toBeDefined();
  });

  test("rejects unknown parameters", async () => {
    const response = await stage.gateway.get("/usage?day=1", caller.key);
    expect(await response.json()).toMatchObject({ error: { code: "unknown_parameter", param: "day" } });
  });
});

test("usage is counted in the units of its price, and quotas separately", async () => {
  const chat = { input_tokens: 100n, cached_input_tokens: 20n, output_tokens: 5n };
  await stage.charge({ ...caller, items: chat, rate: "0.10" });
  await stage.charge({ ...caller, items: { images: 2n }, rate: "0.05", per: 1n, model: "maker/picture" });
  await stage.charge({ ...caller, items: { seconds: 6n }, rate: "0.01", per: 1n });
  await stage.charge({ ...caller, items: { video_seconds: 30n, script_calls: 1n }, rate: "0.01", per: 1n });
  await stage.charge({ ...caller, items: { characters: 500n }, rate: "0.10" });
  await stage.book(caller.accountId, { kind: "grant", unit: "text", amount: 1000n, expiresAt: null });
  await stage.charge({ ...caller, items: chat, quota: { kind: "text", units: 125n } });
  const { data, total } = await readUsage();
  expect(total).toEqual({
    ...{ calls: 6, input_tokens: 240, cached_input_tokens: 40, output_tokens: 10 },
    ...{ images: 2, seconds: 36, characters: 500 },
    charge: "0.5325",
    quota: { text: 125, image: 0, video: 0 },
  });
  expect(data).toEqual([{ from: "2026-11-15T00:00:00.000Z", to: "2026-11-16T00:00:00.000Z", ...total }]);
});

type Wanted = { minutes: number; model: string; isFirstKey: boolean; tokens: number; isQuota: boolean };

const anyCharges = fc.array(
  fc.record<Wanted>({
    // Across the end of daylight saving time in the account's time zone.
    minutes: fc.integer({ min: 1, max: 120 }),
    model: fc.constantFrom(...usageModels),
    isFirstKey: fc.boolean(),
    tokens: fc.integer({ min: 0, max: 9_999_999 }),
    isQuota: fc.boolean(),
  }),
  { minLength: 60, maxLength: 60 },
);

test("bills of more items than a roll-up has places are summed in full, one by one and in batches", async () => {
  // Eleven marks, then seconds in the twelfth place.
  const fillers = Array.from({ length: 11 }, (_, index) => [`mark:${index}`, 1n]);
  const items = Object.fromEntries([...fillers, ["seconds", 5n]]);
  const charge = () => stage.charge({ ...caller, items, rate: "0.01", per: 1n, held: "2" });
  await charge();
  await charge();
  await rollUp();
  await Promise.all([charge(), stage.charge({ ...caller, items: { seconds: 1n }, rate: "0.01", per: 1n }), charge()]);
  stage.clock.advance(24 * 3_600_000);
  expect((await readUsage()).total).toMatchObject({ calls: 5, seconds: 21 });
  await rollUp();
  expect((await readUsage()).total).toMatchObject({ calls: 5, seconds: 21 });
  const scope = { kind: "whole", accountIds: [caller.accountId], now: stage.clock.now() } as const;
  expect(await findViolations(stage.gateway.database, scope)).toEqual([]);
});

test("usage, charges and statement have the same sums by day, hour, model and key", async () => {
  const property = fc.asyncProperty(anyCharges, async (wanted) => {
    const other = await stage.gateway.createCaller();
    await stage.setTimeZone(caller.accountId, "America/St_Johns");
    await stage.book(caller.accountId, { kind: "grant", unit: "text", amount: 9_000_000_000n, expiresAt: null });
    stage.setTime("2026-10-30T12:34:56.789Z");
    for (const [index, { minutes, model, isFirstKey, tokens, isQuota }] of wanted.entries()) {
      // Some are rolled up, in several portions; the last ones are not.
      if (index % 13 === 12) await rollUp();
      stage.clock.advance(minutes * 60_000);
      const work = { accountId: caller.accountId, model, items: { output_tokens: BigInt(tokens) }, rate: "0.000123" };
      const keyId = isFirstKey ? caller.keyId : other.keyId;
      await stage.charge({
        ...{ ...work, keyId },
        ...(isQuota ? { quota: { kind: "text" as const, units: BigInt(tokens) + 1n } } : {}),
      });
    }
    for (const groups of ["day", "hour", "day,model", "hour,key", "model", "key", "model,key,day"]) {
      await compareSums(groups, wanted.length);
    }
  });
  await fc.assert(property, { numRuns: 1, endOnFailure: true });
});

/** Compares every row with its charges, and all of them with the statement. */
async function compareSums(groups: string, count: number): Promise<void> {
  const time = "from=2026-10-30&to=2026-11-08";
  const usage = await readUsage(`${time}&group_by=${groups}`);
  expect(usage.total.calls).toBe(count);
  expect(sumMoney(usage.data.map(({ charge }) => charge))).toBe(usage.total.charge);
  const charges = await readAll<Charge>(`/charges?${time}`);
  expect(charges).toHaveLength(count);
  for (const row of usage.data) {
    const filter = [
      `from=${row.from ?? usage.from}&to=${row.to ?? usage.to}`,
      ...(row.model === undefined ? [] : [`model=${encodeURIComponent(row.model)}`]),
      ...(row.key_id === undefined ? [] : [`key_id=${row.key_id}`]),
    ].join("&");
    const behind: Page<Charge> = await stage.read(`/charges?${filter}&limit=100`, caller.key);
    expect(behind.has_more).toBe(false);
    expect(behind.data.length).toBe(row.calls);
    expect(sumMoney(behind.data.map(({ charge }) => charge))).toBe(row.charge);
    expect(behind.data.reduce((sum, { quota_units }) => sum + quota_units, 0)).toBe(row.quota.text);
    const { from: _from, to: _to, model: _model, key_id: _key, ...sums } = row;
    expect((await readUsage(`${filter}&group_by=key`)).total).toEqual(sums);
  }
  const entries = await readAll<{ kind: string; unit: string; amount: string }>(`/ledger?${time}`);
  const spent = entries.filter(({ kind, unit }) => kind === "charge" && unit === "money");
  expect(sumMoney(spent.map(({ amount }) => amount.replace(/^-/, "")))).toBe(usage.total.charge);
}

test("as CSV it has the same numbers under the same names", async () => {
  await stage.charge({ ...caller, items: { input_tokens: 3n, output_tokens: 1000n } });
  const csv: string = await stage.read("/usage?group_by=day,model,key&format=csv", caller.key);
  const [heading, line, end] = csv.split("\r\n");
  expect(end).toBe("");
  expect(heading).toBe(
    "from,to,model,key_id,calls,input_tokens,cached_input_tokens,output_tokens,images,seconds,characters,charge,quota_text,quota_image,quota_video",
  );
  expect(line).toBe(
    `2026-11-15T00:00:00.000Z,2026-11-16T00:00:00.000Z,small,${caller.keyId},1,3,0,1000,0,0,0,0.2006,0,0,0`,
  );
  const response = await stage.gateway.get("/usage?format=csv", caller.key);
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="usage.csv"');
});

test("an account never sees another account's usage, with any filter", async () => {
  await stage.charge({ ...caller });
  const stranger = await stage.gateway.createCaller();
  for (const query of ["", `key_id=${caller.keyId}`, "model=small", "group_by=key,model"]) {
    expect(await stage.read(`/usage?${query}`, stranger.key)).toMatchObject({ data: [], total: none });
    expect(await stage.read(`/charges?${query.replace(/^group.*/, "")}`, stranger.key)).toMatchObject({ data: [] });
  }
});

test("a key can be limited to its own charges, or to the balance", async () => {
  const auditor = await stage.gateway.createCaller({ endpoints: ["usage"] });
  const cashier = await stage.gateway.createCaller({ endpoints: ["balance"] });
  const readStatus = async (path: string, { key }: UsageCaller) => (await stage.gateway.get(path, key)).status;
  for (const path of ["/usage", "/charges"]) {
    expect([await readStatus(path, auditor), await readStatus(path, cashier)]).toEqual([200, 403]);
  }
  for (const path of ["/ledger", "/holds"]) {
    expect([await readStatus(path, auditor), await readStatus(path, cashier)]).toEqual([403, 200]);
  }
});

test("the console returns the same for the signed-in account", async () => {
  const { visitor } = await signUpVisitor(stage.gateway);
  for (const path of ["/usage", "/charges", "/ledger", "/holds"]) {
    expect([path, (await visitor.get(path)).status]).toEqual([path, 200]);
  }
});
