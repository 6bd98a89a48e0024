import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeAccount, renewPlans } from "../../src/app/change-account.ts";
import { createPlan, updatePlan } from "../../src/features/accounts/index.ts";
import { createLedger, type Ledger } from "../../src/features/ledger/create-ledger.ts";
import { bookCredit, findViolations } from "../../src/features/ledger/index.ts";
import { sweepLedger } from "../../src/features/ledger/sweep-ledger.ts";
import type { AccountId, HoldId } from "../../src/lib/ids.ts";
import { nano, parseMoney } from "../../src/lib/money.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const dayMs = 24 * 60 * 60 * 1000;

let clock: TestClock;
let sharedDatabase: TestDatabase;
let gateway: TestGateway;
let ledger: Ledger;

beforeAll(async () => {
  clock = createTestClock();
  sharedDatabase = await createTestDatabase();
  gateway = await startGateway({ clock, sharedDatabase });
  const address = { connectionString: sharedDatabase.url };
  ledger = createLedger({ database: gateway.database, address, clock, onTrouble: () => {} });
});
afterAll(async () => {
  await ledger.close();
  await gateway[Symbol.asyncDispose]();
  await sharedDatabase.close();
});

async function readBalance(key: string): Promise<Record<string, unknown>> {
  const response = await gateway.get("/balance", key);
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

function sweep(): Promise<{ swept: number }> {
  return sweepLedger({ ...gateway.parts, onTrouble: (_, error) => expect(error).toBeNull() });
}

type Booking = Parameters<typeof bookCredit>[1]["booking"];

function book(accountId: AccountId, booking: Booking): Promise<unknown> {
  return bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
}

function amountOf(text: string) {
  return parseMoney(text) ?? nano(0n);
}

function planHold(accountId: AccountId, amount: string, quota: "text" | null = null, units = 1n) {
  return {
    kind: "hold",
    id: gateway.parts.ids.next("hold"),
    accountId,
    amount: amountOf(amount),
    quota: quota === null ? null : { kind: quota, units },
    budget: null,
    cause: { kind: "request", id: "req_test" },
    expiresAt: new Date(clock.now().getTime() + 15 * 60_000),
  } as const;
}

async function openHold(...words: Parameters<typeof planHold>): Promise<HoldId> {
  const operation = planHold(...words);
  expect((await ledger.apply(operation)).kind).toBe("held");
  return operation.id;
}

function settle(accountId: AccountId, holdId: HoldId, cost: string, quotaUnits = 0n) {
  const items = [{ name: "call", quantity: 1n, rate: amountOf(cost) }];
  const bill = { priceId: "price_test", items, per: 1n, minimum: nano(0n), quotaUnits };
  return ledger.apply({ kind: "settle", accountId, holdId, bill, overrun: "refuse", budgetAmount: null });
}

const nothing = {
  object: "balance",
  currency: "USD",
  available_balance: "0.00",
  frozen_balance: "0.00",
  cash_balance: "0.00",
  gift_balance: "0.00",
  quotas: { text: 0, image: 0, video: 0 },
  plan: null,
};

test("a new account has a zero in every field", async () => {
  const caller = await gateway.createCaller();
  expect(await readBalance(caller.key)).toEqual(nothing);
});

test("held money is on hold, charged money is gone, and gifts are spent before cash", async () => {
  const { accountId, key } = await gateway.createCaller();
  await book(accountId, { kind: "top-up", amount: amountOf("10") });
  const expiresAt = new Date(clock.now().getTime() + dayMs);
  await book(accountId, { kind: "grant", unit: "money", amount: amountOf("2.5"), expiresAt });
  const holdId = await openHold(accountId, "4");
  expect(await readBalance(key)).toEqual({
    ...nothing,
    available_balance: "8.50",
    frozen_balance: "4.00",
    cash_balance: "10.00",
    gift_balance: "2.50",
  });
  await settle(accountId, holdId, "3.000000001");
  expect(await readBalance(key)).toEqual({
    ...nothing,
    available_balance: "9.499999999",
    cash_balance: "9.499999999",
  });
});

test("buckets are listed in spending order, add up to the balance, and are visible to their account only", async () => {
  const { accountId, key } = await gateway.createCaller();
  const inDays = (days: number): Date => new Date(clock.now().getTime() + days * dayMs);
  const [soon, later] = [inDays(1), inDays(9)];
  await book(accountId, { kind: "top-up", amount: amountOf("10") });
  await book(accountId, { kind: "grant", unit: "money", amount: amountOf("2"), expiresAt: later });
  await book(accountId, { kind: "grant", unit: "money", amount: amountOf("1.5"), expiresAt: soon });
  await openHold(accountId, "2");
  const read = async (reader: string) => (await (await gateway.get("/buckets", reader)).json()) as { data: unknown[] };
  const bucket = { object: "bucket", unit: "money", frozen: "0.00", expires_at: null };
  const cash = { ...bucket, kind: "cash", balance: "10.00" };
  const ofLater = { ...bucket, kind: "gift", balance: "2.00", frozen: "0.50", expires_at: later.toISOString() };
  const ofSoon = { ...bucket, kind: "gift", balance: "1.50", frozen: "1.50", expires_at: soon.toISOString() };
  expect(await read(key)).toEqual({ object: "list", data: [ofSoon, ofLater, cash], has_more: false });
  expect(await readBalance(key)).toMatchObject({ cash_balance: "10.00", gift_balance: "3.50", frozen_balance: "2.00" });
  expect((await read((await gateway.createCaller()).key)).data).toEqual([]);
  clock.advance(9 * dayMs);
  expect((await read(key)).data).toEqual([ofSoon, { ...ofLater, balance: "0.50" }, cash]);
});

test("an expired gift counts nowhere, except for its held part", async () => {
  const { accountId, key } = await gateway.createCaller();
  const expiresAt = new Date(clock.now().getTime() + 60_000);
  await book(accountId, { kind: "grant", unit: "money", amount: amountOf("5"), expiresAt });
  const holdId = await openHold(accountId, "2");
  clock.advance(60_000);
  const held = { ...nothing, frozen_balance: "2.00", gift_balance: "2.00" };
  expect(await readBalance(key)).toEqual(held);
  await sweep();
  expect(await readBalance(key)).toEqual(held);
  // The work that holds it may still spend it.
  expect(await settle(accountId, holdId, "1.5")).toMatchObject({ kind: "settled", paid: amountOf("1.5") });
  expect(await readBalance(key)).toEqual(nothing);
  await sweep();
  expect(await readBalance(key)).toEqual(nothing);
});

test("an abandoned hold is released when it expires", async () => {
  const { accountId, key } = await gateway.createCaller();
  await book(accountId, { kind: "top-up", amount: amountOf("1") });
  await openHold(accountId, "1");
  clock.advance(15 * 60_000 - 1);
  await sweep();
  expect(await readBalance(key)).toMatchObject({ available_balance: "0.00", frozen_balance: "1.00" });
  clock.advance(1);
  expect(await sweep()).toEqual({ swept: 1 });
  expect(await readBalance(key)).toMatchObject({ available_balance: "1.00", frozen_balance: "0.00" });
});

test("a refused hold is refused again for a day, and then leaves no trace", async () => {
  const { accountId } = await gateway.createCaller();
  const listHolds = () => gateway.database.selectFrom("holds").select("state").where("account_id", "=", accountId);
  const operation = { ...planHold(accountId, "1"), expiresAt: new Date(clock.now().getTime() + 2 * dayMs) };
  expect(await ledger.apply(operation)).toMatchObject({ kind: "refused", isReplay: false });
  await book(accountId, { kind: "top-up", amount: amountOf("5") });
  const expired = await openHold(accountId, "1");
  clock.advance(dayMs - 1);
  await sweep();
  expect(await ledger.apply(operation)).toMatchObject({ kind: "refused", isReplay: true });
  clock.advance(1);
  await sweep();
  expect(await listHolds().execute()).toEqual([{ state: "expired" }]);
  expect(await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() })).toEqual([]);
  expect(await ledger.apply({ kind: "release", holdId: expired, accountId })).toMatchObject({ state: "expired" });
});

test("a plan grants its quotas in each period, and either quota or money pays for a whole call", async () => {
  const quotas = { text: 1000n, image: 5n, video: 0n };
  await createPlan(gateway.parts, { id: "pro", name: "Pro", limits: {}, period: "month", quotas });
  const { accountId, key } = await gateway.createCaller();
  await book(accountId, { kind: "top-up", amount: amountOf("1") });
  await changeAccount(gateway.parts, accountId, { planId: "pro" });
  const start = clock.now();
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + 1);
  const plan = { name: "Pro", expires_at: end.toISOString() };
  expect(await readBalance(key)).toMatchObject({ quotas: { text: 1000, image: 5, video: 0 }, plan });

  const byQuota = await openHold(accountId, "0.5", "text", 600n);
  expect(await readBalance(key)).toMatchObject({ frozen_balance: "0.00", quotas: { text: 400, image: 5, video: 0 } });
  const byMoney = await openHold(accountId, "0.5", "text", 401n);
  expect(await readBalance(key)).toMatchObject({ frozen_balance: "0.50", quotas: { text: 400, image: 5, video: 0 } });
  expect(await settle(accountId, byQuota, "0.5", 550n)).toMatchObject({ unit: "text", paid: 550n });
  expect(await settle(accountId, byMoney, "0.25", 401n)).toMatchObject({ unit: "money", paid: amountOf("0.25") });
  expect(await readBalance(key)).toMatchObject({
    available_balance: "0.75",
    quotas: { text: 450, image: 5, video: 0 },
  });

  // A change of a plan's quotas takes effect in the next period, which starts where the last one ended.
  await updatePlan(gateway.parts, { id: "pro", quotas: { text: 7n, image: 0n, video: 9n } });
  clock.advance(end.getTime() - start.getTime() + dayMs);
  expect(await readBalance(key)).toMatchObject({ quotas: { text: 0, image: 0, video: 0 }, plan: null });
  const onTrouble = (_: string, error: unknown): void => {
    throw error;
  };
  await renewPlans({ ...gateway.parts, currency: "USD", onTrouble });
  await renewPlans({ ...gateway.parts, currency: "USD", onTrouble });
  const nextEnd = new Date(end);
  nextEnd.setUTCMonth(nextEnd.getUTCMonth() + 1);
  const next = { quotas: { text: 7, image: 0, video: 9 }, plan: { name: "Pro", expires_at: nextEnd.toISOString() } };
  expect(await readBalance(key)).toMatchObject(next);
  // Moving an account to its current plan grants nothing.
  await settle(accountId, await openHold(accountId, "0.1", "text", 3n), "0.1", 3n);
  await changeAccount(gateway.parts, accountId, { planId: "pro" });
  expect(await readBalance(key)).toMatchObject({ ...next, quotas: { text: 4, image: 0, video: 9 } });

  await changeAccount(gateway.parts, accountId, { planId: null });
  expect(await readBalance(key)).toMatchObject({ quotas: { text: 0, image: 0, video: 0 }, plan: null });
});

test("concurrent renewals of plans grant each account its quotas once", async () => {
  const quotas = { text: 10n, image: 0n, video: 0n };
  await createPlan(gateway.parts, { id: "daily", name: "Daily", limits: {}, period: "day", quotas });
  const callers = await Promise.all(Array.from({ length: 20 }, () => gateway.createCaller()));
  for (const { accountId } of callers) await changeAccount(gateway.parts, accountId, { planId: "daily" });
  clock.advance(dayMs);
  const address = { connectionString: sharedDatabase.url };
  const database = createDatabase({ address, connectionsMax: 5, onConnectionError: () => {} });
  const troubles: unknown[] = [];
  const renew = () =>
    renewPlans({ ...gateway.parts, database, currency: "USD", onTrouble: (_accountId, error) => troubles.push(error) });
  await Promise.all(Array.from({ length: 5 }, renew));
  await database.destroy();
  expect(troubles).toEqual([]);
  for (const { key } of callers) {
    expect(await readBalance(key)).toMatchObject({ quotas: { text: 10, image: 0, video: 0 } });
  }
});

test("the balance endpoint takes no parameters and needs a key", async () => {
  const { key } = await gateway.createCaller();
  const response = await gateway.get("/balance?currency=EUR", key);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "unknown_parameter", param: "currency" } });
  expect((await fetch(`${gateway.baseUrl}/balance`)).status).toBe(401);
});

test("an account never sees another account's money", async () => {
  const rich = await gateway.createCaller();
  await book(rich.accountId, { kind: "top-up", amount: amountOf(`1${randomBytes(1).readUInt8()}`) });
  const poor = await gateway.createCaller();
  expect(await readBalance(poor.key)).toEqual(nothing);
});
