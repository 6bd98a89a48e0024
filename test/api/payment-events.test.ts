import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findViolations, readBalance } from "../../src/features/ledger/index.ts";
import { handlePaymentEvent } from "../../src/features/payments/external/handle-payment-event.ts";
import { listCheckouts, listReversals } from "../../src/features/payments/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { presentMoney } from "../../src/lib/money.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const logger = createLogger({ level: "error", format: "json", write: () => {} });
const secret = `whsec_${randomBytes(32).toString("base64")}`;

let world: TestLedger;

beforeAll(async () => {
  world = await openTestLedger();
});
afterAll(async () => {
  const now = world.clock.now();
  const violations = await findViolations(world.database, { kind: "whole", accountIds: "all", now });
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

type Delivery = { at?: Date; key?: string; sentBody?: string; currency?: string };

/** Signed by the reference implementation of Standard Webhooks. */
async function tell(
  event: unknown,
  { at = world.clock.now(), key = secret, sentBody, currency = "USD" }: Delivery = {},
) {
  const id = `msg_${randomBytes(6).toString("hex")}`;
  const body = typeof event === "string" ? event : JSON.stringify(event);
  const signature = new Webhook(key).sign(id, at, body);
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = { id, timestamp, signature: `v1,AAAA ${signature}`, body: Buffer.from(sentBody ?? body) };
  await handlePaymentEvent({ ...world.parts, logger, currency, secret }, signed);
}

const createPayment = (accountId: AccountId, more: object = {}) => ({
  type: "payment.succeeded",
  data: { payment_id: `epay-${accountId}`, account_id: accountId, amount: "20.00", currency: "USD", ...more },
});

const createRefund = (accountId: AccountId, more: object = {}) => ({
  type: "payment.refunded",
  data: { payment_id: `epay-${accountId}`, refund_id: "r-1", amount: "5", currency: "USD", ...more },
});

async function readCash(accountId: AccountId): Promise<string> {
  return presentMoney((await readBalance(world.database, accountId, world.clock.now())).balance.cash);
}

test("a payment is credited once, however often and concurrently its event arrives", async () => {
  const accountId = await world.createAccount();
  // Many payments: two equal inserts meet at another unique index than the id's only now and then.
  const payments = Array.from({ length: 100 }, (_, at) => ({ payment_id: `epay-${accountId}-${at}`, amount: "0.20" }));
  await Promise.all(payments.flatMap((payment) => [payment, payment].map((it) => tell(createPayment(accountId, it)))));
  await tell(createPayment(accountId, payments[0]));
  expect(await readCash(accountId)).toBe("20.00");
  const checkouts = await listCheckouts(world.database, { accountId, limit: 200 });
  expect(checkouts).toHaveLength(100);
  expect(checkouts[0]).toMatchObject({ origin: "external", state: "paid", amountMinor: 20n });
});

test("the same payment id with another amount or account is rejected", async () => {
  const [accountId, other] = [await world.createAccount(), await world.createAccount()];
  await tell(createPayment(accountId));
  const reused = { code: "idempotency_key_reused" };
  await expect(tell(createPayment(accountId, { amount: "21.00" }))).rejects.toMatchObject(reused);
  await expect(tell(createPayment(accountId, { account_id: other }))).rejects.toMatchObject(reused);
  expect([await readCash(accountId), await readCash(other)]).toEqual(["20.00", "0.00"]);
});

test("a refund takes its amount back once, and never more than the payment brought", async () => {
  const accountId = await world.createAccount();
  await expect(tell(createRefund(accountId))).rejects.toMatchObject({ code: "not_found" });
  await tell(createPayment(accountId));
  await tell(createRefund(accountId));
  await tell(createRefund(accountId));
  expect(await readCash(accountId)).toBe("15.00");
  await expect(tell(createRefund(accountId, { amount: "6" }))).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  await tell(createRefund(accountId, { refund_id: "r-2", amount: "500" }));
  expect(await readCash(accountId)).toBe("0.00");
  const [checkout] = await listCheckouts(world.database, { accountId, limit: 5 });
  expect(await listReversals(world.database, [checkout?.id ?? ""])).toHaveLength(2);
});

test("an event with a wrong, old or missing signature, or a changed body, books nothing", async () => {
  const accountId = await world.createAccount();
  const payment = createPayment(accountId);
  const now = world.clock.now().getTime();
  const rejected = { code: "invalid_parameter", param: "webhook-signature" };
  const wrong: Delivery[] = [
    { key: `whsec_${randomBytes(32).toString("base64")}` },
    { at: new Date(now - 301_000) },
    { at: new Date(now + 301_000) },
    { sentBody: JSON.stringify(createPayment(accountId, { amount: "2000.00" })) },
  ];
  for (const delivery of wrong) await expect(tell(payment, delivery)).rejects.toMatchObject(rejected);
  const unsigned = { id: "", timestamp: "", signature: "", body: Buffer.from(JSON.stringify(payment)) };
  const dependencies = { ...world.parts, logger, secret };
  await expect(handlePaymentEvent(dependencies, unsigned)).rejects.toMatchObject(rejected);
  expect(await readCash(accountId)).toBe("0.00");
});

test.for([
  [{ amount: "-1.00" }, "data.amount"],
  [{ amount: "0" }, "data.amount"],
  [{ amount: "1.001" }, "data.amount"],
  [{ amount: 20 }, "data.amount"],
  [{ currency: "EUR" }, "data.currency"],
  [{ account_id: "acct_unknown" }, "data.account_id"],
  [{ payment_id: "" }, "data.payment_id"],
  [{ payment_id: "x".repeat(201) }, "data.payment_id"],
  [{ ammount: "20.00" }, "data.ammount"],
] as const)("a payment with %j is rejected", async ([wrong, param]) => {
  const accountId = await world.createAccount();
  await expect(tell(createPayment(accountId, wrong))).rejects.toMatchObject({ param });
  expect(await readCash(accountId)).toBe("0.00");
});

test("other events are acknowledged, and a body that is no JSON is rejected", async () => {
  await tell({ type: "payment.created", data: {} });
  await expect(tell("{")).rejects.toMatchObject({ code: "invalid_json" });
  await expect(tell("[]")).rejects.toMatchObject({ param: "type" });
});

test("amounts have the decimal places of their currency", async () => {
  const accountId = await world.createAccount();
  const yen = { currency: "JPY", payment_id: `yen-${accountId}` };
  const payment = (amount: string) => tell(createPayment(accountId, { ...yen, amount }), { currency: "JPY" });
  await expect(payment("20.50")).rejects.toMatchObject({ param: "data.amount" });
  await payment("20.00");
  const dinar = { currency: "KWD", payment_id: `dinar-${accountId}`, amount: "1.23" };
  await tell(createPayment(accountId, dinar), { currency: "KWD" });
  const minors = (await listCheckouts(world.database, { accountId, limit: 5 })).map(({ amountMinor }) => amountMinor);
  expect(new Set(minors)).toEqual(new Set([20n, 1230n]));
});
