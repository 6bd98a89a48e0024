import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bookCredit, findViolations, readBalance } from "../../src/features/ledger/index.ts";
import { sendNotices } from "../../src/features/notices/index.ts";
import {
  readTopUp,
  removeCard,
  switchTopUpOff,
  switchTopUpOn,
} from "../../src/features/payments/cards/change-top-up.ts";
import { runTopUps } from "../../src/features/payments/cards/run-top-ups.ts";
import { createCheckout } from "../../src/features/payments/create-checkout.ts";
import { handleStripeEvent } from "../../src/features/payments/handle-stripe-event.ts";
import { listCheckouts } from "../../src/features/payments/index.ts";
import { createStripeClient, type StripeClient } from "../../src/features/payments/stripe-client.ts";
import { sweepPayments } from "../../src/features/payments/sweep-payments.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano, parseMoney, presentMoney } from "../../src/lib/money.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const logger = createLogger({ level: "error", format: "json", write: () => {} });
const limits = { siteUrl: "http://localhost:4242", currency: "USD", amountMin: 5, amountMax: 1000 };
const terms = { threshold: "10", amount: "20", month_max: "100" };
const signal = new AbortController().signal;

let world: TestLedger;
let stripe: StripeServer;
let client: StripeClient;

beforeAll(async () => {
  world = await openTestLedger();
  stripe = await startStripeServer(world);
  client = createStripeClient(stripe, { url: stripe.url, timeoutMs: 1500 });
});

beforeEach(async () => {
  // Each test has its own accounts; those of earlier tests no longer top up.
  await world.database.updateTable("auto_top_ups").set({ state: "off", stop_reason: null }).execute();
  await world.database.updateTable("account_notices").set({ sent_at: world.clock.now() }).execute();
});

afterAll(async () => {
  const now = world.clock.now();
  const violations = await findViolations(world.database, { kind: "whole", accountIds: "all", now });
  await client.close();
  await stripe[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

const getDependencies = () => ({ ...world.parts, ...limits, stripe: client, logger, attemptsMax: 5 });

const run = () => runTopUps(getDependencies(), signal);

async function tell(type: string, object: Record<string, unknown>): Promise<void> {
  const { body, headers } = stripe.sign(stripe.createEvent(type, object));
  const event = { body: Buffer.from(body), signature: headers["stripe-signature"] ?? "" };
  await handleStripeEvent(getDependencies(), event);
}

/** The account's owner in the console. */
function ownerOf(accountId: AccountId) {
  return { accountId, userId: "user_1" as const, from: null };
}

/** An account that has paid $20 and saved the card. */
async function createPayer(): Promise<AccountId> {
  const accountId = await world.createAccount();
  const { id } = await createCheckout(getDependencies(), { accountId, amount: "20", savesCard: true });
  const session = stripe.find(id);
  stripe.pay(session);
  await tell("checkout.session.completed", session);
  return accountId;
}

async function spend(accountId: AccountId, amount: string): Promise<void> {
  const booking = { kind: "adjust", amount: nano(-(parseMoney(amount) ?? 0n)) } as const;
  await bookCredit(world.parts, { accountId, booking, actor: "test", reason: "spent", reference: null });
}

/** An account with $2 left and automatic top-up on. */
async function createLowPayer(more: Partial<typeof terms> = {}): Promise<AccountId> {
  const accountId = await createPayer();
  await switchTopUpOn(getDependencies(), { owner: ownerOf(accountId), terms: { ...terms, ...more } });
  await spend(accountId, "18");
  return accountId;
}

const chargesOf = (accountId: AccountId) =>
  stripe.cards.charges.filter(({ metadata }) => metadata.account === accountId);

async function readOutcome(accountId: AccountId) {
  const { balance } = await readBalance(world.database, accountId, world.clock.now());
  const { rule } = await readTopUp(world.database, accountId, world.clock.now());
  const checkouts = await listCheckouts(world.database, { accountId, limit: 20 });
  const states = checkouts.filter(({ origin }) => origin === "automatic").map(({ state }) => state);
  return [presentMoney(balance.available), rule?.stopReason ?? rule?.state, states];
}

async function readMails(): Promise<string[]> {
  const subjects: string[] = [];
  await sendNotices({
    ...{ database: world.database, clock: world.clock, siteUrl: limits.siteUrl },
    sendMail: ({ subject, before, after }) => subjects.push(`${subject}\n${[...before, ...after].join("\n")}`),
  });
  return subjects;
}

describe("a saved card", () => {
  test("is the card of a payment whose customer agreed; a payment without consent saves none", async () => {
    const accountId = await createPayer();
    const { card } = await readTopUp(world.database, accountId, world.clock.now());
    expect(card).toMatchObject({ brand: "visa", last4: "4242", expMonth: 12, expYear: 2030 });
    const form = stripe.requests.findLast(({ path }) => path === "/v1/checkout/sessions")?.form;
    expect(form?.get("payment_intent_data[setup_future_usage]")).toBe("off_session");
    expect(form?.get("allowed_payment_method_types[0]")).toBe("card");

    const other = await world.createAccount();
    const { id } = await createCheckout(getDependencies(), { accountId: other, amount: "20" });
    stripe.pay(stripe.find(id));
    await tell("checkout.session.completed", stripe.find(id));
    expect((await readTopUp(world.database, other, world.clock.now())).card).toBeNull();
    const attempt = switchTopUpOn(getDependencies(), { owner: ownerOf(other), terms });
    await expect(attempt).rejects.toThrow("Save a card first");
  });

  test("is stored by the sweep if Stripe fails after the credit, and replaces the earlier card", async () => {
    const accountId = await createPayer();
    const first = stripe.cards.newest();
    world.clock.advance(minuteMs);
    const { id } = await createCheckout(getDependencies(), { accountId, amount: "20", savesCard: true });
    stripe.pay(stripe.find(id));
    stripe.faults.push("error", "error");
    await expect(tell("checkout.session.completed", stripe.find(id))).rejects.toThrow();
    expect((await readTopUp(world.database, accountId, world.clock.now())).card?.cardId).toBe(first.id);
    await sweepPayments(getDependencies(), signal);
    const { card } = await readTopUp(world.database, accountId, world.clock.now());
    expect(card?.cardId).toBe(stripe.cards.newest().id);
    expect(first.customer).toBeNull();
  });

  test("of the latest payment stays, even if the card of an earlier one is read later", async () => {
    const accountId = await createPayer();
    const { id } = await createCheckout(getDependencies(), { accountId, amount: "20", savesCard: true });
    stripe.pay(stripe.find(id));
    const early = stripe.cards.newest();
    stripe.faults.push("error", "error");
    await expect(tell("checkout.session.completed", stripe.find(id))).rejects.toThrow();
    world.clock.advance(minuteMs);
    const later = await createCheckout(getDependencies(), { accountId, amount: "20", savesCard: true });
    stripe.pay(stripe.find(later.id));
    await tell("checkout.session.completed", stripe.find(later.id));
    await sweepPayments(getDependencies(), signal);
    const { card } = await readTopUp(world.database, accountId, world.clock.now());
    expect(card?.cardId).toBe(stripe.cards.newest().id);
    expect([stripe.cards.newest().customer === null, early.customer === null]).toEqual([false, true]);
  });

  test("that was removed is not charged, and does not come back with a late event", async () => {
    const accountId = await createLowPayer();
    const session = [...stripe.sessions.values()].findLast(({ metadata }) => metadata.account === accountId);
    await removeCard(getDependencies(), ownerOf(accountId));
    expect(stripe.cards.newest().customer).toBeNull();
    await tell("checkout.session.completed", session ?? {});
    await run();
    expect((await readTopUp(world.database, accountId, world.clock.now())).card).toBeNull();
    expect(await readOutcome(accountId)).toEqual(["2.00", "off", []]);
  });
});

describe("automatic top-up", () => {
  test("charges the card once when the balance is below the threshold", async () => {
    const accountId = await createPayer();
    await switchTopUpOn(getDependencies(), { owner: ownerOf(accountId), terms });
    await spend(accountId, "10");
    await run();
    expect(chargesOf(accountId)).toHaveLength(0);
    await spend(accountId, "0.000000001");
    await run();
    await run();
    expect(await readOutcome(accountId)).toEqual(["29.999999999", "on", ["paid"]]);
    const [charge] = chargesOf(accountId);
    expect(charge).toMatchObject({ amount: 2000, currency: "usd", metadata: { account: accountId } });
    // Its own event changes nothing.
    await tell("payment_intent.succeeded", charge ?? {});
    expect(await readOutcome(accountId)).toEqual(["29.999999999", "on", ["paid"]]);
  });

  test("switches off after a decline, mails the owner once, and pauses for an hour even if switched on again", async () => {
    const accountId = await createLowPayer();
    stripe.cards.newest().mood = "declined";
    await run();
    expect(await readOutcome(accountId)).toEqual(["2.00", "declined", ["failed"]]);
    await tell("payment_intent.payment_failed", chargesOf(accountId)[0] ?? {});
    expect(await readMails()).toEqual([expect.stringMatching(/card was declined\n.*20\.00 USD on visa •••• 4242/)]);
    expect(await readMails()).toEqual([]);
    await switchTopUpOn(getDependencies(), { owner: ownerOf(accountId), terms });
    await switchTopUpOff(world.database, ownerOf(accountId), world.clock.now());
    await switchTopUpOn(getDependencies(), { owner: ownerOf(accountId), terms });
    world.clock.advance(59 * minuteMs);
    await run();
    expect(chargesOf(accountId)).toHaveLength(1);
    world.clock.advance(minuteMs);
    await run();
    expect(chargesOf(accountId)).toHaveLength(2);
    expect(await readOutcome(accountId)).toEqual(["2.00", "declined", ["failed", "failed"]]);
  });

  test("is declined by a card that needs its owner, and by one that is gone at Stripe", async () => {
    const accountId = await createLowPayer();
    stripe.cards.newest().mood = "authentication";
    const gone = await createLowPayer();
    stripe.cards.newest().customer = null;
    await run();
    expect(await readOutcome(accountId)).toEqual(["2.00", "declined", ["failed"]]);
    expect(await readOutcome(gone)).toEqual(["2.00", "declined", ["failed"]]);
  });

  test("attempts at most five charges in 24 hours, and never exceeds the month's maximum", async () => {
    const eager = await createLowPayer({ month_max: "1000" });
    const capped = await createLowPayer({ month_max: "50" });
    for (let round = 0; round < 8; round += 1) {
      await run();
      for (const accountId of [eager, capped]) {
        const { balance } = await readBalance(world.database, accountId, world.clock.now());
        if (balance.available > 0n) await spend(accountId, presentMoney(balance.available));
      }
      world.clock.advance(6 * minuteMs);
    }
    expect([chargesOf(eager).length, chargesOf(capped).length]).toEqual([5, 2]);
    expect(await readMails()).toEqual([expect.stringContaining("your maximum of 50.00 USD for this month")]);
    world.clock.advance(24 * hourMs);
    await run();
    expect([chargesOf(eager).length, chargesOf(capped).length]).toEqual([6, 2]);
    world.clock.advance(31 * 24 * hourMs);
    await run();
    expect(chargesOf(capped).length).toBe(3);
  });

  test("credits a charge whose answer was lost, and charges it no second time", async () => {
    const accountId = await createLowPayer();
    stripe.faults.push("hangs-up", "hangs-up");
    await run();
    expect(await readOutcome(accountId)).toEqual(["2.00", "on", ["open"]]);
    world.clock.advance(6 * minuteMs);
    await run();
    expect(chargesOf(accountId)).toHaveLength(1);
    expect(await readOutcome(accountId)).toEqual(["22.00", "on", ["paid"]]);
  });

  test("repeats a charge that Stripe never processed", async () => {
    const accountId = await createLowPayer();
    for (let outage = 0; outage < 2; outage += 1) {
      stripe.faults.push("error", "error");
      await run();
      expect(await readOutcome(accountId)).toEqual(["2.00", "on", ["open"]]);
      world.clock.advance(2 * minuteMs);
    }
    await run();
    expect(await readOutcome(accountId)).toEqual(["22.00", "on", ["paid"]]);
    expect(chargesOf(accountId)).toHaveLength(1);
  });

  test("gives an unprocessed charge up before Stripe forgets its key, and asks for a review", async () => {
    const accountId = await createLowPayer();
    stripe.faults.push("error", "error");
    await run();
    world.clock.advance(20 * hourMs);
    await run();
    await run();
    expect(chargesOf(accountId)).toHaveLength(0);
    expect(await readOutcome(accountId)).toEqual(["2.00", "review", ["failed"]]);
    expect(await readMails()).toEqual([expect.stringContaining("could not be confirmed")]);
  });

  test("credits a charge that Stripe reports after it was given up", async () => {
    const accountId = await createLowPayer();
    stripe.cards.newest().mood = "slow";
    await run();
    expect(await readOutcome(accountId)).toEqual(["2.00", "on", ["open"]]);
    world.clock.advance(10 * minuteMs);
    await run();
    expect(chargesOf(accountId)).toHaveLength(1);
    const [charge] = chargesOf(accountId);
    await world.database
      .updateTable("checkouts")
      .set({ state: "failed", note: "given up", ended_at: world.clock.now() })
      .where("payment_id", "=", charge?.id ?? "")
      .execute();
    if (charge !== undefined) stripe.cards.settle(charge);
    await tell("payment_intent.succeeded", charge ?? {});
    expect(await readOutcome(accountId)).toEqual(["22.00", "on", ["paid"]]);
  });

  test("stops when a payment is refunded or disputed: the lower balance must not charge the card again", async () => {
    const accountId = await createLowPayer();
    await run();
    const session = [...stripe.sessions.values()].findLast(({ metadata }) => metadata.account === accountId);
    if (session === undefined) throw new Error("no session");
    await tell("charge.dispute.created", stripe.dispute(session, 2000));
    world.clock.advance(2 * hourMs);
    await run();
    expect(chargesOf(accountId)).toHaveLength(1);
    expect(await readOutcome(accountId)).toEqual(["2.00", "reversed", ["paid"]]);
    expect(await readMails()).toEqual([expect.stringContaining("refunded or disputed")]);
  });

  test("does not charge a suspended account, and several runs at once charge once", async () => {
    const suspended = await createLowPayer();
    const update = world.database.updateTable("accounts").set({ suspended_at: world.clock.now() });
    await update.where("id", "=", suspended).execute();
    const accountId = await createLowPayer();
    await Promise.all([run(), run(), run()]);
    expect([chargesOf(suspended).length, chargesOf(accountId).length]).toEqual([0, 1]);
    expect(await readOutcome(accountId)).toEqual(["22.00", "on", ["paid"]]);
  });

  test.for([
    [{ threshold: "0" }, "threshold"],
    [{ threshold: "20.01" }, "threshold"],
    [{ amount: "4.99", threshold: "1" }, "amount"],
    [{ amount: "20.001" }, "amount"],
    [{ month_max: "19.99" }, "month_max"],
    [{ month_max: "-1" }, "month_max"],
  ] as const)("refuses %j", async ([wrong, param]) => {
    const accountId = await world.createAccount();
    const attempt = switchTopUpOn(getDependencies(), { owner: ownerOf(accountId), terms: { ...terms, ...wrong } });
    await expect(attempt).rejects.toMatchObject({ code: "invalid_parameter", param });
  });
});
