import { afterAll, beforeAll, expect, test } from "vitest";
import { findViolations, readBalance } from "../../src/features/ledger/index.ts";
import { createCheckout } from "../../src/features/payments/create-checkout.ts";
import { handleStripeEvent } from "../../src/features/payments/handle-stripe-event.ts";
import { createPayments, findCheckout, type Payments } from "../../src/features/payments/index.ts";
import { createStripeClient, type StripeClient } from "../../src/features/payments/stripe-client.ts";
import { presentMoney } from "../../src/lib/money.ts";
import { createMemoryCounters } from "../../src/platform/counters/memory-counters.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { waitUntil } from "../harness/wait-until.ts";

const minuteMs = 60_000;
const logger = createLogger({ level: "error", format: "json", write: () => {} });
const signal = new AbortController().signal;

let world: TestLedger;
let stripe: StripeServer;
let client: StripeClient;
let payments: Payments;

beforeAll(async () => {
  world = await openTestLedger();
  stripe = await startStripeServer(world);
  const place = { url: stripe.url, timeoutMs: 1500 };
  client = createStripeClient(stripe, place);
  payments = createPayments({
    ...world.parts,
    counters: createMemoryCounters({ clock: world.clock }),
    keys: stripe,
    limits: { siteUrl: "http://localhost:4242", currency: "USD", amountMin: 5, amountMax: 1000 },
    autoTopUpsDailyMax: 5,
    webhookSecret: null,
    logger,
    place,
  });
});

afterAll(async () => {
  const now = world.clock.now();
  const violations = await findViolations(world.database, { kind: "whole", accountIds: "all", now });
  await payments.close();
  await client.close();
  await stripe[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

/** A checkout whose events are all lost. */
async function begin() {
  const accountId = await world.createAccount();
  const limits = { siteUrl: "http://localhost:4242", amountMin: 5, amountMax: 1000 };
  const { id } = await createCheckout({ ...world.parts, ...limits, stripe: client }, { accountId, amount: "20" });
  return { accountId, id, session: stripe.find(id) };
}

async function readOutcome({ accountId, id }: Pick<Awaited<ReturnType<typeof begin>>, "accountId" | "id">) {
  const checkout = await findCheckout(world.database, { id });
  const { balance } = await readBalance(world.database, accountId, world.clock.now());
  return [checkout?.state, presentMoney(balance.cash), checkout?.note ?? null];
}

test("a checkout without an event for an hour is polled, and ends with Stripe's status", async () => {
  const [paid, expired, waiting, slow, slowFailed] = [
    await begin(),
    await begin(),
    await begin(),
    await begin(),
    await begin(),
  ];
  stripe.pay(paid.session);
  stripe.expire(expired.session);
  stripe.pay(slow.session, "slow");
  stripe.pay(slowFailed.session, "slow");
  stripe.settle(slowFailed.session, "failed");
  const lost = await begin();
  stripe.sessions.delete(lost.session.id);
  const cutOff = await begin();
  await world.database
    .updateTable("checkouts")
    .set({ session_id: null, session_url: null })
    .where("id", "=", cutOff.id)
    .execute();

  world.clock.advance(59 * minuteMs);
  const askedBefore = stripe.requests.length;
  await payments.sweep(signal);
  expect(stripe.requests).toHaveLength(askedBefore);

  world.clock.advance(minuteMs);
  await payments.sweep(signal);
  expect(await readOutcome(paid)).toEqual(["paid", "20.00", null]);
  expect(await readOutcome(expired)).toEqual(["expired", "0.00", null]);
  expect(await readOutcome(waiting)).toEqual(["open", "0.00", null]);
  expect(await readOutcome(slow)).toEqual(["open", "0.00", null]);
  expect(await readOutcome(slowFailed)).toEqual(["failed", "0.00", "The payment did not succeed."]);
  expect(await readOutcome(lost)).toEqual(["failed", "0.00", "Stripe has no such session."]);
  expect(await readOutcome(cutOff)).toEqual(["failed", "0.00", "No Stripe session was created."]);

  // No checkout is polled again within the next hour.
  const asked = stripe.requests.length;
  await payments.sweep(signal);
  expect(stripe.requests).toHaveLength(asked);
  stripe.settle(slow.session, "succeeded");
  stripe.pay(waiting.session);
  world.clock.advance(60 * minuteMs);
  await payments.sweep(signal);
  expect(await readOutcome(slow)).toEqual(["paid", "20.00", null]);
  expect(await readOutcome(waiting)).toEqual(["paid", "20.00", null]);
  await payments.sweep(signal);
  expect(await readOutcome(paid)).toEqual(["paid", "20.00", null]);
});

test("two concurrent sweeps credit once", async () => {
  const payer = await begin();
  stripe.pay(payer.session);
  world.clock.advance(60 * minuteMs);
  await Promise.all([payments.sweep(signal), payments.sweep(signal)]);
  expect(await readOutcome(payer)).toEqual(["paid", "20.00", null]);
});

test("a sweep without a response from Stripe fails, and the next one continues with the others", async () => {
  const first = await begin();
  // Of two with the same time, either may be polled first.
  world.clock.advance(1);
  const second = await begin();
  stripe.pay(first.session);
  stripe.pay(second.session);
  world.clock.advance(60 * minuteMs);
  stripe.faults.push("error", "error");
  await expect(payments.sweep(signal)).rejects.toThrow();
  await payments.sweep(signal);
  expect(await readOutcome(first)).toEqual(["open", "0.00", null]);
  expect(await readOutcome(second)).toEqual(["paid", "20.00", null]);
  world.clock.advance(60 * minuteMs);
  await payments.sweep(signal);
  expect(await readOutcome(first)).toEqual(["paid", "20.00", null]);
});

test("an event that arrives while a sweep waits for Stripe wins over the sweep's response", async () => {
  const payer = await begin();
  stripe.pay(payer.session);
  const event = stripe.sign(stripe.createEvent("checkout.session.completed", payer.session));
  stripe.sessions.delete(payer.session.id);
  world.clock.advance(60 * minuteMs);
  stripe.faults.push("hangs");
  const askedBefore = stripe.requests.length;
  const sweep = payments.sweep(signal);
  await waitUntil("the sweep's question", () => stripe.requests.length > askedBefore);
  const { "stripe-signature": signature = "" } = stripe.sign(JSON.parse(event.body)).headers;
  await handleStripeEvent({ ...world.parts, logger, stripe: client }, { body: Buffer.from(event.body), signature });
  await sweep;
  expect(await readOutcome(payer)).toEqual(["paid", "20.00", null]);
});

test("a sweep that is stopped calls Stripe no more", async () => {
  const payer = await begin();
  stripe.pay(payer.session);
  world.clock.advance(60 * minuteMs);
  const askedBefore = stripe.requests.length;
  await payments.sweep(AbortSignal.abort());
  expect(stripe.requests).toHaveLength(askedBefore);
  expect(await readOutcome(payer)).toEqual(["open", "0.00", null]);
});

test("refunds and disputes with lost events are found within an hour, and so are their later changes", async () => {
  const payer = await begin();
  stripe.pay(payer.session);
  world.clock.advance(60 * minuteMs);
  await payments.sweep(signal);
  expect(await readOutcome(payer)).toEqual(["paid", "20.00", null]);
  const [refund, dispute] = [stripe.refund(payer.session, 500), stripe.dispute(payer.session, 700)];
  for (let number = 0; number < 120; number += 1) stripe.createEvent("refund.updated", refund);
  stripe.createEvent("charge.dispute.created", dispute);
  await payments.sweep(signal);
  expect(await readOutcome(payer)).toEqual(["paid", "20.00", null]);
  world.clock.advance(60 * minuteMs);
  // Stripe is unreachable for a moment: the next sweep polls the rest.
  stripe.faults.push("error", "error");
  await expect(payments.sweep(signal)).rejects.toThrow("Something broke");
  await payments.sweep(signal);
  expect(await readOutcome(payer)).toEqual(["paid", "8.00", null]);
  stripe.createEvent("charge.dispute.closed", { ...dispute, status: "won" });
  world.clock.advance(60 * minuteMs);
  await payments.sweep(signal);
  expect(await readOutcome(payer)).toEqual(["paid", "15.00", null]);
});
