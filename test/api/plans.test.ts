import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeAccount, renewPlans } from "../../src/app/change-account.ts";
import { createPlan, findAccount, updatePlan } from "../../src/features/accounts/index.ts";
import { bookCredit, findViolations, readBalance } from "../../src/features/ledger/index.ts";
import { buyPlan, cancelPlan } from "../../src/features/plans/buy-plan.ts";
import { nano, parseMoney, presentMoney } from "../../src/lib/money.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-06-01T00:00:00Z"));
const dayMs = 24 * 3_600_000;
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ clock });
  const quotas = { text: 1000n, image: 0n, video: 0n };
  const sold = { limits: {}, quotas, isForSale: true };
  await createPlan(gateway.parts, { id: "small", name: "Small", ...sold, price: parseMoney("5") });
  await createPlan(gateway.parts, { id: "large", name: "Large", ...sold, price: parseMoney("20") });
  await createPlan(gateway.parts, { id: "given", name: "Given", ...sold, price: null, isForSale: false });
});
afterAll(async () => {
  const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() });
  await gateway[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

async function openAccount(cash: string) {
  const caller = await gateway.createCaller();
  const { accountId } = caller;
  const amount = parseMoney(cash) ?? nano(0n);
  const booking = { kind: "top-up", amount } as const;
  if (amount > 0n)
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  const parts = { ...gateway.parts, currency: "USD" };
  return {
    ...caller,
    buy: (planId: string, price: string) => buyPlan(parts, { accountId, planId, price: parseMoney(price) ?? nano(0n) }),
    cancel: () => cancelPlan(parts, accountId),
    async read() {
      const { balance, period } = await readBalance(gateway.database, accountId, clock.now());
      const account = await findAccount(gateway.database, accountId);
      return {
        money: presentMoney(balance.available),
        text: balance.quotas.text,
        plan: account?.planId ?? null,
        endsAt: period?.endsAt.toISOString() ?? null,
      };
    },
    async listNotices(): Promise<string[]> {
      const rows = await gateway.database
        .selectFrom("account_notices")
        .select("kind")
        .where("account_id", "=", accountId)
        .execute();
      return rows.map(({ kind }) => kind);
    },
  };
}

const renew = () =>
  renewPlans({
    ...gateway.parts,
    currency: "USD",
    onTrouble(_accountId, error) {
      throw error;
    },
  });

test("a purchase debits the balance and starts the period, once however often it is sent", async () => {
  const account = await openAccount("12");
  await Promise.all([account.buy("small", "5"), account.buy("small", "5"), account.buy("small", "5")]);
  const endsAt = new Date(Date.UTC(2026, clock.now().getUTCMonth() + 1, clock.now().getUTCDate())).toISOString();
  expect(await account.read()).toEqual({ money: "7.00", text: 1000n, plan: "small", endsAt });
  const { rows } = await sql<{ names: string[]; paid: bigint }>`
    select item_names as names, paid from charges where account_id = ${account.accountId}`.execute(gateway.database);
  expect(rows).toEqual([{ names: ["plan_months", "plan:small"], paid: 5_000_000_000n }]);
  const charges = (await (await gateway.get("/charges", account.key)).json()) as {
    data: { summary: string; charge: string }[];
  };
  expect(charges.data).toMatchObject([
    { summary: "plan: 1 month", charge: "5.00", model: null, priced_by: { plan: "small" } },
  ]);
});

test("another plan replaces the own one, and pays its own price", async () => {
  const account = await openAccount("30");
  await account.buy("small", "5");
  await account.buy("large", "20");
  expect(await account.read()).toMatchObject({ money: "5.00", text: 1000n, plan: "large" });
});

test("nothing is bought without the money, at another price, or what is not for sale", async () => {
  const account = await openAccount("4.50");
  await expect(account.buy("small", "5")).rejects.toMatchObject({
    code: "insufficient_balance",
    message: "The plan costs 5.00 USD. Your available balance is 4.50 USD. Add 0.50 USD to buy it.",
  });
  await expect(account.buy("small", "1")).rejects.toMatchObject({ code: "invalid_parameter", param: "price" });
  await expect(account.buy("given", "1")).rejects.toMatchObject({ code: "not_found", param: "plan_id" });
  await expect(account.buy("none", "1")).rejects.toMatchObject({ code: "not_found" });
  expect(await account.read()).toEqual({ money: "4.50", text: 0n, plan: null, endsAt: null });
});

test("a plan that the operator gave is not the customer's to replace", async () => {
  const account = await openAccount("50");
  await changeAccount(gateway.parts, account.accountId, { planId: "given" });
  await expect(account.buy("small", "5")).rejects.toMatchObject({ code: "invalid_parameter", param: "plan_id" });
  await expect(account.cancel()).rejects.toMatchObject({ code: "not_found" });
});

test("a plan renews at the agreed price while the balance suffices, and then ends with a mail", async () => {
  const account = await openAccount("11");
  await account.buy("small", "5");
  await updatePlan(gateway.parts, { id: "small", price: parseMoney("9"), isForSale: false });
  clock.advance(32 * dayMs);
  await Promise.all([renew(), renew()]);
  await renew();
  expect(await account.read()).toMatchObject({ money: "1.00", text: 1000n, plan: "small" });
  clock.advance(32 * dayMs);
  await renew();
  expect(await account.read()).toEqual({ money: "1.00", text: 0n, plan: null, endsAt: null });
  expect(await account.listNotices()).toEqual(["plan_unpaid"]);
  await renew();
  expect(await account.listNotices()).toEqual(["plan_unpaid"]);
  await updatePlan(gateway.parts, { id: "small", price: parseMoney("5"), isForSale: true });
});

test("a canceled plan ends with its period, unless it is bought again before", async () => {
  const account = await openAccount("30");
  await account.buy("small", "5");
  await account.cancel();
  await account.buy("small", "5");
  expect(await account.read()).toMatchObject({ money: "25.00", plan: "small" });
  await account.cancel();
  await account.cancel();
  clock.advance(32 * dayMs);
  await renew();
  expect(await account.read()).toEqual({ money: "25.00", text: 0n, plan: null, endsAt: null });
  expect(await account.listNotices()).toEqual(["plan_ended"]);
  await account.buy("small", "5");
  expect(await account.read()).toMatchObject({ money: "20.00", text: 1000n, plan: "small" });
});

test("a plan that an operator changes is no longer the customer's", async () => {
  const account = await openAccount("30");
  await account.buy("small", "5");
  await changeAccount(gateway.parts, account.accountId, { planId: "given" });
  clock.advance(32 * dayMs);
  await renew();
  expect(await account.read()).toMatchObject({ money: "25.00", plan: "given" });
});
