import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authorization } from "../../src/features/calls/authorize-call.ts";
import { createChatTerms } from "../../src/features/chat/chat-terms.ts";
import { billChat, type ChargedUsage, createUsage } from "../../src/features/chat/quote-chat.ts";
import type { Claims } from "../../src/features/idempotency/index.ts";
import { readBalance } from "../../src/features/ledger/index.ts";
import { freezeWallet } from "../../src/features/ledger/invariant-store.ts";
import type { Budget } from "../../src/lib/budget.ts";
import type { Caller } from "../../src/lib/caller.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { standardLimits } from "../../src/lib/limit-set.ts";
import { nano } from "../../src/lib/money.ts";
import { createTestPrice } from "../harness/create-test-price.ts";
import { listCharges, listHolds } from "../harness/ledger/read-chat-ledger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const token = 1_000_000n;

/** 1.00 for a thousand tokens of input and 2.00 for a thousand of output: a million billionths a token, and two. */
const rates = { input: 1000n * token, output: 2000n * token };
const tokenPrice = createTestPrice({ rates });

const usualTerms = { price: tokenPrice, inputTokensMax: 100, outputTokensMax: 1000, outputTokensUsual: 10 };
type Terms = typeof usualTerms;
/** The hold for those terms. */
const firstHold = 120n * token;

/** None of these calls has a key. */
const noClaims = {} as Claims;

let world: TestLedger;
beforeAll(async () => {
  world = await openTestLedger();
});
afterAll(() => world[Symbol.asyncDispose]());

function createPayment(accountId: AccountId, terms: Partial<Terms> = {}, budget: Budget | null = null) {
  const keyId = `key_${randomBytes(6).toString("hex")}` as const;
  const limits = { accountLimits: standardLimits, keyLimits: {}, logsContent: false };
  const counted = budget === null ? null : { ...budget, keyId };
  const caller: Caller = {
    ...{ accountId, keyId, lineageId: keyId, planId: null, modelIds: null, budget: counted },
    ...limits,
  };
  const { price, inputTokensMax, outputTokensMax, outputTokensUsual } = { ...usualTerms, ...terms };
  const authorization = new Authorization(
    { ledger: world.ledger, claims: noClaims, clock: world.clock, ids: world.parts.ids, currency: "USD" },
    {
      caller,
      requestId: world.parts.ids.next("req"),
      meter: { written: () => 0, writtenMax: () => 0 },
      terms: createChatTerms({
        model: { limits: {}, usual_output_tokens: outputTokensUsual },
        rates: price,
        size: { tokensMax: inputTokensMax },
        outputTokensAsked: outputTokensMax,
        choices: 1,
        visibility: { isVisible: true, isMetered: true },
        holdMs: 60_000,
      }),
    },
  );
  const settle = (usage: ChargedUsage | null) => authorization.settle(usage && billChat(price, usage), null);
  return {
    holdId: authorization.holdId,
    open: () => authorization.open(),
    extend: (units: number) => authorization.extend(units),
    covered: () => authorization.unitsHeld(),
    countPayable: () => authorization.countPayable(),
    canAuthorizeOptimistically: () => authorization.canAuthorizeOptimistically(),
    hasAmpleReserve: () => authorization.hasAmpleReserve(),
    settle,
  };
}

async function readMoney(accountId: AccountId): Promise<{ available: bigint; frozen: bigint }> {
  const { balance } = await readBalance(world.database, accountId, world.clock.now());
  return { available: balance.available, frozen: balance.frozen };
}

test("a hold covers the whole input and the held output, and the unused part is released", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId);
  await payment.open();
  expect(payment.covered()).toBe(10);
  expect(await readMoney(accountId)).toEqual({ available: 880n * token, frozen: firstHold });
  const usage = { ...createUsage(7, 3), isCounted: false };
  expect(await payment.settle(usage)).toEqual({ charge: 13n * token, lost: 0n });
  expect(await readMoney(accountId)).toEqual({ available: 987n * token, frozen: 0n });
});

test("a call without output releases its whole hold and is not charged", async () => {
  const accountId = await world.createAccount(firstHold);
  const payment = createPayment(accountId);
  await payment.open();
  expect(await payment.settle(null)).toEqual({ charge: 0n, lost: 0n });
  expect(await readMoney(accountId)).toEqual({ available: firstHold, frozen: 0n });
  expect(await listCharges(world.database, accountId)).toEqual([]);
});

test("a call whose hold was never written has nothing to settle", async () => {
  const accountId = await world.createAccount(firstHold - 1n);
  const payment = createPayment(accountId);
  await expect(payment.open()).rejects.toMatchObject({
    code: "insufficient_balance",
    message:
      "This request reserves 0.12 USD. Your available balance is 0.119999999 USD. Add 0.000000001 USD to continue.",
  });
  expect(await payment.settle(createUsage(7, 3))).toEqual({ charge: 0n, lost: 0n });
  expect(await readMoney(accountId)).toEqual({ available: firstHold - 1n, frozen: 0n });
});

test("a call settled while its hold is being written is charged after the write", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId);
  const opening = payment.open();
  expect(await payment.settle({ ...createUsage(7, 3), isCounted: false })).toEqual({ charge: 13n * token, lost: 0n });
  await opening;
  expect(await readMoney(accountId)).toEqual({ available: 987n * token, frozen: 0n });
});

test("a call settled while its hold is being refused is not charged", async () => {
  const accountId = await world.createAccount(firstHold - 1n);
  const payment = createPayment(accountId);
  const opening = payment.open();
  const [opened, settled] = await Promise.allSettled([opening, payment.settle(createUsage(7, 3))]);
  expect([opened.status, settled.status]).toEqual(["rejected", "rejected"]);
  expect(await listCharges(world.database, accountId)).toEqual([]);
  expect(await readMoney(accountId)).toEqual({ available: firstHold - 1n, frozen: 0n });
});

test("a key over its budget is refused with its own error code and the missing amount", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId, {}, { amount: nano(100n * token), period: "day" });
  await expect(payment.open()).rejects.toMatchObject({
    code: "key_budget_exceeded",
    message:
      "This request reserves 0.12 USD. The API key's budget has 0.10 USD left. Raise it by 0.02 USD to continue.",
  });
});

test("a frozen account gets a suspension error without amounts", async () => {
  const accountId = await world.createAccount(1_000n * token);
  await freezeWallet(world.database, accountId, "test");
  await expect(createPayment(accountId).open()).rejects.toMatchObject({
    code: "account_suspended",
    message: "The account is suspended. Open Billing in the console, or contact the service's operator.",
  });
});

test("a call may start before its hold when the previous commit reserved a quarter of the balance", async () => {
  // Input 100 and output 1000 cost 2.10.
  const accountId = await world.createAccount(4n * 2_100n * token + firstHold);
  const first = createPayment(accountId);
  expect(first.canAuthorizeOptimistically()).toBe(false);
  await first.open();
  expect(createPayment(accountId, { outputTokensMax: 1001 }).canAuthorizeOptimistically()).toBe(false);
  expect(createPayment(accountId, { inputTokensMax: 101 }).canAuthorizeOptimistically()).toBe(false);
  expect(createPayment(accountId).canAuthorizeOptimistically()).toBe(true);
  // The reserve covers one such call, and the previous call has used it.
  expect(createPayment(accountId).canAuthorizeOptimistically()).toBe(false);
  await first.settle(null);
});

test("a call may delay its hold while half of the reserve is unused", async () => {
  // A reserve for four calls.
  const accountId = await world.createAccount(16n * 2_100n * token + firstHold);
  const first = createPayment(accountId);
  expect([first.canAuthorizeOptimistically(), first.hasAmpleReserve()]).toEqual([false, false]);
  await first.open();
  const early = Array.from({ length: 4 }, () => createPayment(accountId));
  const begun = early.map((payment) => [payment.canAuthorizeOptimistically(), payment.hasAmpleReserve()]);
  expect(begun).toEqual([
    [true, true],
    [true, true],
    [true, false],
    [true, false],
  ]);
  for (const payment of [...early, first]) {
    await payment.open();
    await payment.settle(null);
  }
});

test("a call of a key with a budget waits for its hold", async () => {
  const accountId = await world.createAccount(1_000_000n * token);
  const budget = { amount: nano(1_000_000n * token), period: "total" } as const;
  for (let count = 0; count < 2; count += 1) {
    const payment = createPayment(accountId, {}, budget);
    expect(payment.canAuthorizeOptimistically()).toBe(false);
    await payment.open();
    await payment.settle(null);
  }
});

test("an account can pay exactly the hold plus the available balance, up to the requested amount", async () => {
  const payable = async (beyondHold: bigint): Promise<number> => {
    const accountId = await world.createAccount(firstHold + beyondHold);
    const payment = createPayment(accountId);
    await payment.open();
    const count = payment.countPayable();
    await payment.settle(null);
    return count;
  };
  expect(await payable(0n)).toBe(10);
  expect(await payable(2n * token - 1n)).toBe(10);
  expect(await payable(2n * token)).toBe(11);
  expect(await payable(51n * token)).toBe(35);
  expect(await payable(1_980n * token - 1n)).toBe(999);
  expect(await payable(1_980n * token)).toBe(1000);
  expect(await payable(9_999n * token)).toBe(1000);
});

test("an account can pay the held amount even when the hold was rounded down", async () => {
  const accountId = await world.createAccount(1n);
  // A token costs 1.3 billionths, and one alone is rounded to a single one.
  const price = createTestPrice({ rates: { input: 0n, output: 1300n } });
  const payment = createPayment(accountId, { price, outputTokensUsual: 1 });
  await payment.open();
  expect(payment.countPayable()).toBe(1);
  await payment.settle(null);
});

test("a key with a budget can pay at most the rest of that budget", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId, {}, { amount: nano(firstHold + 50n * token), period: "day" });
  await payment.open();
  expect(payment.countPayable()).toBe(35);
  await payment.settle(null);
});

test("a hold grows to the requested amount while there is money", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId);
  await payment.open();
  await payment.extend(20);
  expect(payment.covered()).toBe(20);
  expect((await readMoney(accountId)).frozen).toBe(140n * token);
  await payment.extend(40);
  expect(payment.covered()).toBe(40);
  expect((await readMoney(accountId)).frozen).toBe(180n * token);
  // 0.10 of the 1.00 pays for the input; the rest pays for 450 tokens, whether held or not.
  expect(payment.countPayable()).toBe(450);
  await payment.settle(null);
});

test("a hold takes the whole balance when there is less than requested, and covers that much output", async () => {
  const accountId = await world.createAccount(firstHold + 11n * token);
  const payment = createPayment(accountId);
  await payment.open();
  await payment.extend(20);
  expect(payment.covered()).toBe(15);
  expect(await readMoney(accountId)).toEqual({ available: 0n, frozen: firstHold + 11n * token });
  await payment.extend(30);
  expect([payment.covered(), payment.countPayable()]).toEqual([15, 15]);
  await payment.settle(null);
});

test("a hold stays as it is when the balance cannot pay for another token", async () => {
  const accountId = await world.createAccount(firstHold + 2n * token - 1n);
  const payment = createPayment(accountId);
  await payment.open();
  await payment.extend(20);
  expect(payment.covered()).toBe(10);
  expect(await readMoney(accountId)).toEqual({ available: 2n * token - 1n, frozen: firstHold });
  await payment.settle(null);
});

test("a hold grows by no more than the rest of the key's budget", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const payment = createPayment(accountId, {}, { amount: nano(firstHold + 8n * token), period: "day" });
  await payment.open();
  await payment.extend(20);
  expect(payment.covered()).toBe(14);
  await payment.settle(null);
});

test("usage beyond the hold is charged up to the hold, and the rest is booked as a loss", async () => {
  const accountId = await world.createAccount(firstHold + 30n * token);
  const payment = createPayment(accountId);
  await payment.open();
  expect(await payment.settle({ ...createUsage(100, 40), isCounted: false })).toEqual({
    charge: firstHold,
    lost: 60n * token,
  });
  expect(await readMoney(accountId)).toEqual({ available: 30n * token, frozen: 0n });
});

test("a hold is at least the minimum price, and never zero when only the input is free", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const price = createTestPrice({ rates, minimum: 500n * token });
  const payment = createPayment(accountId, { price });
  await payment.open();
  expect((await readMoney(accountId)).frozen).toBe(500n * token);
  expect(await payment.settle(createUsage(1, 1))).toEqual({ charge: 500n * token, lost: 0n });
  const tiny = createPayment(accountId, { price: createTestPrice({ rates: { input: 0n, output: 1n } }) });
  await tiny.open();
  expect((await readMoney(accountId)).frozen).toBe(1n);
  await tiny.settle(null);
});

test("a free model holds nothing, charges nothing, and covers the whole request", async () => {
  const accountId = await world.createAccount();
  const payment = createPayment(accountId, { price: createTestPrice({ rates: { input: 0n, output: 0n } }) });
  await payment.open();
  expect([payment.holdId, payment.canAuthorizeOptimistically(), payment.covered(), payment.countPayable()]).toEqual([
    null,
    true,
    1000,
    1000,
  ]);
  expect(await payment.settle(createUsage(7, 3))).toEqual({ charge: 0n, lost: 0n });
  expect(await listHolds(world.database, accountId)).toEqual([]);
});

test("a quota pays for a call when it covers all of it; otherwise money pays", async () => {
  const accountId = await world.createAccount(1_000n * token);
  const grant = { unit: "text", amount: 1100n, expiresAt: null, channel: "plan" } as const;
  const cause = { kind: "plan", id: "plan_test" } as const;
  await world.ledger.apply({ kind: "grant", id: world.parts.ids.next("txn"), accountId, ...grant, cause });
  const byQuota = createPayment(accountId);
  await byQuota.open();
  expect([byQuota.covered(), byQuota.countPayable()]).toEqual([1000, 1000]);
  expect(await byQuota.settle({ ...createUsage(7, 3), isCounted: false })).toEqual({ charge: 0n, lost: 0n });
  const byMoney = createPayment(accountId);
  await byMoney.open();
  expect(byMoney.covered()).toBe(10);
  expect(await byMoney.settle({ ...createUsage(7, 3), isCounted: false })).toEqual({ charge: 13n * token, lost: 0n });
  const charges = await listCharges(world.database, accountId);
  expect(charges.map(({ unit, paid }) => [unit, paid])).toEqual([
    ["text", "10"],
    ["money", "0.013"],
  ]);
});
