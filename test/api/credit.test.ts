import { afterAll, beforeAll, expect, test } from "vitest";
import {
  bookCredit,
  type CreditRequest,
  createCodes,
  findViolations,
  listStatement,
  readBalance,
  redeemCode,
  requireLedgerCurrency,
  voidCode,
} from "../../src/features/ledger/index.ts";
import { amountMax } from "../../src/features/ledger/ledger-state.ts";
import { computeCharge } from "../../src/lib/bill.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const dayMs = 24 * 60 * 60 * 1000;

let world: TestLedger;
beforeAll(async () => {
  world = await openTestLedger();
});
afterAll(() => world[Symbol.asyncDispose]());

function book(accountId: AccountId, booking: CreditRequest["booking"], more: Partial<CreditRequest> = {}) {
  return bookCredit(world.parts, { accountId, booking, actor: "ada", reason: "a test", reference: null, ...more });
}

async function readAvailable(accountId: AccountId): Promise<bigint> {
  return (await readBalance(world.database, accountId, world.clock.now())).balance.available;
}

async function listEntries(accountId: AccountId) {
  return await listStatement(world.database, accountId, { from: null, to: null, limit: 1000 });
}

test("an operator's booking is in the statement with its author, its reason and a running balance", async () => {
  const accountId = await world.createAccount();
  await book(accountId, { kind: "top-up", amount: nano(1000n) }, { reason: " invoice 7 " });
  await book(accountId, { kind: "adjust", amount: nano(-300n) });
  await book(accountId, { kind: "adjust", amount: nano(50n) });
  await book(accountId, { kind: "grant", unit: "money", amount: 10n, expiresAt: null });
  await book(accountId, { kind: "grant", unit: "image", amount: 3n, expiresAt: null });
  const entries = await listEntries(accountId);
  expect(entries.map(({ kind, unit, amount, balance }) => [kind, unit, amount, balance])).toEqual([
    ["top_up", "money", 1000n, 1000n],
    ["adjustment", "money", -300n, 700n],
    ["adjustment", "money", 50n, 750n],
    ["grant", "money", 10n, 760n],
    ["grant", "image", 3n, 3n],
  ]);
  expect(entries[0]).toMatchObject({
    cause: { kind: "operator", id: expect.stringMatching(/^act_/) },
    operator: { actor: "ada", reason: "invoice 7" },
    bucket: { kind: "cash", balance: 1000n },
  });
});

test.each<[string, CreditRequest["booking"], Partial<CreditRequest>, object]>([
  ["nothing", { kind: "top-up", amount: nano(0n) }, {}, { param: "amount" }],
  ["a negative payment", { kind: "top-up", amount: nano(-1n) }, {}, { param: "amount" }],
  ["more than a bigint column stores", { kind: "top-up", amount: nano(2n ** 63n) }, {}, { param: "amount" }],
  ["a correction of zero", { kind: "adjust", amount: nano(0n) }, {}, { param: "amount" }],
  [
    "a correction below zero",
    { kind: "adjust", amount: nano(-101n) },
    {},
    { code: "insufficient_balance", param: "amount" },
  ],
  ["a balance that would overflow", { kind: "top-up", amount: nano(amountMax) }, {}, { param: "amount" }],
  [
    "gifts that would overflow",
    { kind: "grant", unit: "money", amount: amountMax, expiresAt: null },
    {},
    { param: "amount" },
  ],
  [
    "quotas that would overflow",
    { kind: "grant", unit: "text", amount: 2n ** 53n, expiresAt: null },
    {},
    { param: "amount" },
  ],
  [
    "an expired grant",
    { kind: "grant", unit: "money", amount: 1n, expiresAt: new Date("2025-12-31T23:59:59Z") },
    {},
    { param: "expires" },
  ],
  [
    "a refund of an unknown charge",
    { kind: "refund", chargeId: "txn_unknown", amount: 1n },
    {},
    { code: "not_found", param: "charge" },
  ],
  [
    "an account that does not exist",
    { kind: "top-up", amount: nano(1n) },
    { accountId: "acct_nobody" },
    { code: "not_found", param: "account" },
  ],
  ["no reason", { kind: "top-up", amount: nano(1n) }, { reason: "  " }, { param: "reason" }],
])("%s is rejected, and nothing changes", async (_, booking, more, error) => {
  const accountId = await world.createAccount(100n);
  const before = await listEntries(accountId);
  await expect(book(accountId, booking, more)).rejects.toMatchObject({ name: "AppError", ...error });
  expect(await listEntries(accountId)).toEqual(before);
  expect(await readAvailable(accountId)).toBe(100n);
});

test("bookings with the same reference are booked once, and never with another amount", async () => {
  const accountId = await world.createAccount();
  const payment = { reference: "payment 1" };
  const countActions = async (): Promise<number> =>
    (await world.database.selectFrom("operator_actions").select("id").execute()).length;
  const actionsBefore = await countActions();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => book(accountId, { kind: "top-up", amount: nano(5n) }, payment)),
  );
  expect(outcomes.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  expect(new Set(outcomes.map(({ transactionId }) => transactionId)).size).toBe(1);
  await expect(book(accountId, { kind: "top-up", amount: nano(6n) }, payment)).rejects.toMatchObject({
    code: "idempotency_key_reused",
    param: "reference",
  });
  expect(await readAvailable(accountId)).toBe(5n);
  expect(await countActions()).toBe(actionsBefore + 1);
  expect(await listEntries(accountId)).toMatchObject([{ operator: { actor: "ada", reason: "a test" } }]);
});

test("a refund returns to the original buckets, and never exceeds the charge", async () => {
  const accountId = await world.createAccount(100n);
  await book(accountId, { kind: "grant", unit: "money", amount: 30n, expiresAt: null });
  const hold = world.hold(accountId, 50n);
  await world.ledger.apply(hold);
  await world.ledger.apply(world.settle(accountId, hold.id, 50n));
  const chargeId = `txn_${hold.id.slice(5)}` as const;
  await book(accountId, { kind: "refund", chargeId, amount: 35n });
  const { balance } = await readBalance(world.database, accountId, world.clock.now());
  expect([balance.cash, balance.gift]).toEqual([100n, 15n]);
  await expect(book(accountId, { kind: "refund", chargeId, amount: 16n })).rejects.toMatchObject({ param: "amount" });
  await book(accountId, { kind: "refund", chargeId, amount: 15n });
  expect(await readAvailable(accountId)).toBe(130n);
});

test("every charge of a statement can be recomputed from the price that it names", async () => {
  const accountId = await world.createAccount(1_000_000n);
  for (const [quantity, rate, minimum] of [
    [7n, 333n, 0n],
    [1n, 1n, 50n],
    [999n, 1001n, 0n],
    [500n, 1n, 0n],
  ] as const) {
    const hold = world.hold(accountId, 2000n);
    await world.ledger.apply(hold);
    const items = [
      { name: "input_tokens", quantity, rate: nano(rate) },
      { name: "output_tokens", quantity: 3n, rate: nano(11n) },
    ];
    const bill = { priceId: "price_1", items, per: 1000n, minimum: nano(minimum), quotaUnits: 0n };
    const settled = await world.ledger.apply(world.settle(accountId, hold.id, 0n, { bill }));
    expect(settled).toMatchObject({ kind: "settled", paid: computeCharge(bill) });
  }
  const charges = (await listEntries(accountId)).filter(({ kind }) => kind === "charge");
  expect(charges).toHaveLength(4);
  for (const { bill, amount, cause } of charges) {
    if (bill === null) throw new Error("a charge without its bill");
    expect(-amount).toBe(computeCharge(bill));
    expect(bill.paid).toBe(-amount);
    expect(cause).toMatchObject({ kind: "request", id: expect.stringMatching(/^req_/) });
  }
});

test("a cost above the hold takes the available balance, and the rest is a loss shown on the bill", async () => {
  const accountId = await world.createAccount(100n);
  const hold = world.hold(accountId, 60n);
  await world.ledger.apply(hold);
  expect(await world.ledger.apply(world.settle(accountId, hold.id, 130n))).toEqual({ kind: "over-hold", missing: 70n });
  expect(await readAvailable(accountId)).toBe(40n);
  const taking = world.settle(accountId, hold.id, 130n, { overrun: "take-available" });
  expect(await world.ledger.apply(taking)).toMatchObject({ kind: "settled", paid: 100n, lost: 30n });
  expect(await world.ledger.apply(taking)).toMatchObject({ kind: "settled", paid: 100n, lost: 30n, isReplay: true });
  const other = world.settle(accountId, hold.id, 129n, { overrun: "take-available" });
  expect(await world.ledger.apply(other)).toEqual({ kind: "already-resolved", state: "settled" });
  const entries = await listEntries(accountId);
  expect(entries.slice(1).map(({ kind, amount, balance }) => [kind, amount, balance])).toEqual([
    ["charge", -100n, 0n],
    ["loss", 30n, 0n],
  ]);
  expect(entries.at(-1)?.bill).toMatchObject({ cost: 130n, paid: 100n, lost: 30n });
});

const giftCode = { kind: "gift", amount: nano(7n), giftDays: 30, note: "spring", expiresAt: null, count: 1 } as const;

test("a hundred concurrent redemptions of a code credit it once", async () => {
  const [created] = await createCodes(world.parts, giftCode);
  const accountIds = await Promise.all(Array.from({ length: 10 }, () => world.createAccount()));
  const tries = Array.from({ length: 100 }, (_, index) =>
    redeemCode(world.parts, { accountId: accountIds[index % 10] as AccountId, text: created?.text ?? "" }),
  );
  const outcomes = await Promise.allSettled(tries);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "already_completed" });
  }
  const balances = await Promise.all(accountIds.map(readAvailable));
  expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(7n);
});

test("a code is accepted in any spelling, and its gift expires after its days", async () => {
  const [created] = await createCodes(world.parts, giftCode);
  const accountId = await world.createAccount();
  const text = (created?.text ?? "").toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l");
  await redeemCode(world.parts, { accountId, text });
  const [entry] = await listEntries(accountId);
  expect(entry).toMatchObject({ kind: "grant", amount: 7n, cause: { kind: "code", id: created?.code.id } });
  expect(entry?.bucket?.expiresAt).toEqual(new Date(world.clock.now().getTime() + 30 * dayMs));
});

test("a cash code adds cash; a voided, expired or unknown code adds nothing", async () => {
  const accountId = await world.createAccount();
  const expiresAt = new Date(world.clock.now().getTime() + 1000);
  const [cash, voided, over] = [
    ...(await createCodes(world.parts, { ...giftCode, kind: "cash", giftDays: null })),
    ...(await createCodes(world.parts, giftCode)),
    ...(await createCodes(world.parts, { ...giftCode, expiresAt })),
  ];
  await redeemCode(world.parts, { accountId, text: cash?.text ?? "" });
  await voidCode(world.parts, voided?.code.id ?? "");
  await voidCode(world.parts, voided?.code.id ?? "");
  world.clock.advance(1000);
  const redeem = (text = "") => redeemCode(world.parts, { accountId, text });
  await expect(redeem(voided?.text)).rejects.toMatchObject({ message: "The code was voided." });
  await expect(redeem(over?.text)).rejects.toMatchObject({ code: "invalid_parameter", param: "code" });
  await expect(redeem("00000-00000-00000-00000")).rejects.toMatchObject({ code: "not_found" });
  await expect(voidCode(world.parts, cash?.code.id ?? "")).rejects.toMatchObject({ code: "already_completed" });
  const { balance } = await readBalance(world.database, accountId, world.clock.now());
  expect([balance.cash, balance.gift]).toEqual([7n, 0n]);
});

test.each([
  ["no codes", { count: 0 }, "count"],
  ["too many codes", { count: 1001 }, "count"],
  ["a code worth nothing", { amount: nano(0n) }, "amount"],
  ["cash with an expiry", { kind: "cash" }, "days"],
  ["a gift of zero days", { giftDays: 0 }, "days"],
  ["an expired code", { expiresAt: new Date("2025-01-01T00:00:00Z") }, "expires"],
] as const)("%s cannot be created", async (_, wrong, param) => {
  await expect(createCodes(world.parts, { ...giftCode, ...wrong })).rejects.toMatchObject({ param });
});

test("a code of another currency, and a gateway of another currency, are rejected", async () => {
  const [created] = await createCodes({ ...world.parts, currency: "EUR" }, giftCode);
  const accountId = await world.createAccount(1n);
  const redeeming = redeemCode(world.parts, { accountId, text: created?.text ?? "" });
  await expect(redeeming).rejects.toMatchObject({ param: "code" });
  await requireLedgerCurrency(world.database, "USD");
  await expect(requireLedgerCurrency(world.database, "EUR")).rejects.toMatchObject({ name: "OperatorError" });
});

test("every invariant holds afterwards", async () => {
  const scope = { kind: "whole", accountIds: "all", now: world.clock.now() } as const;
  expect(await findViolations(world.database, scope)).toEqual([]);
});
