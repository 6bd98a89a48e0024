// @module-tag slow
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPaymentSettings } from "../../src/app/read-payment-settings.ts";
import { createCheckout } from "../../src/features/payments/create-checkout.ts";
import { createStripeClient } from "../../src/features/payments/stripe-client.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { loadSettings } from "../../src/platform/config/load-settings.ts";
import { type StripeFault, type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));

const providerSecret = `whsec_${randomBytes(32).toString("base64")}`;

let stripe: StripeServer;
let gateway: TestGateway;

beforeAll(async () => {
  stripe = await startStripeServer({ clock });
  gateway = await startGateway({
    settings: {
      ...visitorSettings,
      stripe_secret_key: stripe.secretKey,
      stripe_webhook_secret: stripe.webhookSecret,
      payment_amount_max: 500,
      payment_webhook_secret: providerSecret,
    },
    clock,
    stripe: { url: stripe.url, timeoutMs: 1500 },
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
});

async function readAccountId(visitor: SiteVisitor): Promise<AccountId> {
  return (await visitor.get("/session")).body.account.id;
}

async function tellPaid(checkoutId: string): Promise<number> {
  const session = stripe.find(checkoutId);
  stripe.pay(session);
  const { body, headers } = stripe.sign(stripe.createEvent("checkout.session.completed", session));
  return (await fetch(`${gateway.siteUrl}/payments/stripe`, { method: "POST", body, headers })).status;
}

async function readCash(visitor: SiteVisitor): Promise<string> {
  return (await visitor.get("/balance")).body.cash_balance;
}

test("the page offers the methods of the setting, and only cards if one is saved", async () => {
  await using offering = await startGateway({
    settings: {
      ...visitorSettings,
      stripe_secret_key: stripe.secretKey,
      stripe_webhook_secret: stripe.webhookSecret,
      payment_methods: ["card", "alipay", "wechat_pay"],
    },
    clock,
    stripe: { url: stripe.url, timeoutMs: 1500 },
  });
  const { visitor } = await signUpVisitor(offering);
  const read = async (body: object): Promise<unknown> =>
    stripe.find((await visitor.post("/checkouts", { amount: "20", ...body })).body.id).allowed_payment_method_types;
  expect(await read({})).toEqual(["card", "alipay", "wechat_pay"]);
  expect(await read({ save_card: true })).toEqual(["card"]);
});

describe("a person who wants to pay", () => {
  test("sees the payment methods and the minimum and maximum amount first", async () => {
    expect((await visitSite(gateway).get("/site")).body).toMatchObject({
      payments: "stripe",
      payment_amount_min: "5.00",
      payment_amount_max: "500.00",
      payment_amounts: ["10.00", "25.00", "50.00", "100.00"],
      has_auto_top_up: true,
    });
  });

  test("gets an error for an invalid amount, and Stripe is not called", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const askedBefore = stripe.requests.length;
    const form = "`amount` must be a number with at most 2 decimal places, such as 20.00.";
    const range = "`amount` must be from 5.00 to 500.00 USD.";
    const wrong = [
      ...["", "five", "-20", "+20", "1e2", "20,00", "20.001", "1.234567891", " 20", "NaN", "99999999999"].map(
        (amount) => [amount, form],
      ),
      ...["0", "4.99", "500.01", "999999999"].map((amount) => [amount, range]),
    ];
    for (const [amount, message] of wrong) {
      const { status, body } = await visitor.post("/checkouts", { amount });
      expect([amount, status, body.error.param, body.error.message]).toEqual([amount, 400, "amount", message]);
    }
    for (const body of [{}, { amount: 20 }, { amount: null }, { amount: "20", currency: "EUR" }, []]) {
      expect((await visitor.post("/checkouts", body)).status).toBe(400);
    }
    expect(stripe.requests).toHaveLength(askedBefore);
    expect((await visitor.get("/checkouts")).body).toEqual({
      object: "list",
      data: [],
      has_more: false,
      next_cursor: null,
    });
    for (const amount of ["5", "500.00", "20.500000000"]) {
      expect((await visitor.post("/checkouts", { amount })).status).toBe(201);
    }
  });

  test("is refused after many declined payments, however often Stripe reports each", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const { body: checkout } = await visitor.post("/checkouts", { amount: "20" });
    const { metadata } = stripe.find(checkout.id);
    const decline = async (number: number): Promise<void> => {
      const fault = { type: "card_error", code: "card_declined", decline_code: "generic_decline" };
      const payment = { id: "pi_declined", object: "payment_intent", status: "requires_payment_method" };
      const attempt = { ...payment, latest_charge: `ch_${number}`, last_payment_error: fault, metadata };
      const { body, headers } = stripe.sign(stripe.createEvent("payment_intent.payment_failed", attempt));
      expect((await fetch(`${gateway.siteUrl}/payments/stripe`, { method: "POST", body, headers })).status).toBe(200);
    };
    for (let number = 1; number <= 9; number += 1) await decline(number);
    for (let times = 0; times < 3; times += 1) await decline(9);
    expect((await visitor.post("/checkouts", { amount: "20" })).status).toBe(201);
    await decline(10);
    const refused = await visitor.post("/checkouts", { amount: "20" });
    expect(refused.status).toBe(429);
    expect(refused.body.error.message).toContain("10 payments were declined");
    // The open page can still be paid.
    expect(await tellPaid(checkout.id)).toBe(200);
    expect(await readCash(visitor)).toBe("20.00");
  });

  test("saves a card with a payment, switches automatic top-up on and off, and removes the card", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const off = { object: "auto_top_up", state: "off", stop_reason: null, threshold: null, card: null };
    expect((await visitor.get("/auto_top_up")).body).toMatchObject({ ...off, charged_this_month: "0.00" });
    const terms = { threshold: "10", amount: "20", month_max: "100" };
    expect((await visitor.post("/auto_top_up", terms)).body.error.message).toMatch(/^Save a card first/);
    expect((await visitor.delete("/saved_card")).status).toBe(404);
    const { body: checkout } = await visitor.post("/checkouts", { amount: "20", save_card: true });
    expect(await tellPaid(checkout.id)).toBe(200);
    const on = { state: "on", threshold: "10.00", amount: "20.00", month_max: "100.00" };
    const card = { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2030 };
    expect((await visitor.post("/auto_top_up", terms)).body).toMatchObject({ ...on, card });
    expect((await visitor.post("/auto_top_up", { ...terms, amount: "501" })).body.error.param).toBe("amount");
    expect((await visitor.delete("/auto_top_up")).body).toMatchObject({ ...on, state: "off", card });
    expect((await visitor.delete("/saved_card")).body).toMatchObject({ state: "off", card: null });

    expect((await visitor.patch("/alerts", { low_balance: "5" })).body).toMatchObject({ low_balance: "5.00" });
    const both = { low_balance: "5.00", budget_percent: 80 };
    expect((await visitor.patch("/alerts", { budget_percent: 80 })).body).toMatchObject(both);
    expect((await visitor.patch("/alerts", { low_balance: "0" })).body.error.param).toBe("low_balance");
    expect((await visitor.patch("/alerts", { budget_percent: 101 })).body.error.param).toBe("budget_percent");
    expect((await visitor.get("/alerts")).body).toMatchObject(both);
  });

  test("is credited by another provider's signed event", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const accountId = await readAccountId(visitor);
    const data = { payment_id: "epay-1", account_id: accountId, amount: "7.50", currency: "USD" };
    const body = JSON.stringify({ type: "payment.succeeded", data });
    const tell = (secret: string) =>
      fetch(`${gateway.siteUrl}/payments/events`, {
        method: "POST",
        body,
        headers: {
          "content-type": "application/json",
          "webhook-id": "msg_1",
          "webhook-timestamp": String(clock.now().getTime() / 1000),
          "webhook-signature": new Webhook(secret).sign("msg_1", clock.now(), body),
        },
      });
    expect((await tell(stripe.webhookSecret)).status).toBe(400);
    expect((await tell(providerSecret)).status).toBe(200);
    expect(await readCash(visitor)).toBe("7.50");
  });

  test("pays yen in whole yen", async () => {
    const { accountId } = await gateway.createCaller();
    const client = createStripeClient(stripe, { url: stripe.url });
    const limits = { siteUrl: "http://localhost:4242", currency: "JPY", amountMin: 500, amountMax: 100_000 };
    const pay = (amount: string) =>
      createCheckout({ ...gateway.parts, ...limits, stripe: client }, { accountId, amount });
    await expect(pay("2000.5")).rejects.toThrow("`amount` must be a whole number, such as 500.");
    const { id } = await pay("2000");
    expect(stripe.find(id)).toMatchObject({ amount_total: 2000, currency: "jpy" });
    await client.close();
  });

  test("has to be signed in, on a page of the site", async () => {
    const stranger = visitSite(gateway);
    expect((await stranger.post("/checkouts", { amount: "20" })).status).toBe(401);
    expect((await stranger.get("/checkouts")).status).toBe(401);
    const { visitor } = await signUpVisitor(gateway);
    const elsewhere = { origin: "https://elsewhere.example.com" };
    expect((await visitor.post("/checkouts", { amount: "20" }, elsewhere)).status).toBe(403);
  });

  test("starts at most 10 payments an hour, however many at once", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const answers = await Promise.all(Array.from({ length: 13 }, () => visitor.post("/checkouts", { amount: "20" })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(refused).toHaveLength(3);
    expect(refused[0]?.headers.get("retry-after")).toBe("3600");
    expect(refused[0]?.body.error).toMatchObject({
      code: "rate_limit_exceeded",
      message: "You started 10 payments within an hour. Try again in 60 minutes.",
    });

    const { body } = await visitor.get("/checkouts?limit=6");
    expect([body.data.length, body.has_more]).toEqual([6, true]);
    const { body: rest } = await visitor.get(`/checkouts?limit=6&after=${body.next_cursor}`);
    expect([rest.data.length, rest.has_more, rest.next_cursor]).toEqual([4, false, null]);
    const ids = [...body.data, ...rest.data].map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
  });

  test("has at most 20 open payments, whenever they started", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const accountId = await readAccountId(visitor);
    const createdAt = new Date("2026-11-14T12:00:00Z");
    const rows = Array.from({ length: 20 }, (_, number) => ({
      ...{ id: `chk_old${accountId.slice(5)}${number}`, account_id: accountId, state: "open", currency: "USD" },
      ...{ amount_nano: 5_000_000_000n, amount_minor: 500n, refunded_minor: 0n },
      ...{ created_at: createdAt, expires_at: new Date("2026-11-15T12:30:00Z") },
    }));
    await gateway.database.insertInto("checkouts").values(rows).execute();
    const { status, body, headers } = await visitor.post("/checkouts", { amount: "20" });
    expect([status, body.error.code, headers.get("retry-after")]).toEqual([429, "concurrency_limit_exceeded", "1800"]);
    await gateway.database
      .deleteFrom("checkouts")
      .where("id", "=", rows[0]?.id ?? "")
      .execute();
    expect((await visitor.post("/checkouts", { amount: "20" })).status).toBe(201);
  });

  test("sees their own payments and no others", async () => {
    const [{ visitor: ada }, { visitor: ben }] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const { body } = await ada.post("/checkouts", { amount: "20" });
    expect((await ada.get(`/checkouts/${body.id}`)).body).toEqual(body);
    expect((await ada.get("/checkouts")).body.data).toEqual([body]);
    const foreign = await ben.get(`/checkouts/${body.id}`);
    expect([foreign.status, foreign.body.error.message]).toEqual([404, "There is no such checkout."]);
    expect((await ben.get("/checkouts")).body.data).toEqual([]);
    expect((await ben.get("/checkouts/chk_nothing")).status).toBe(404);
  });
});

describe("while Stripe", () => {
  const failures: { what: string; faults: StripeFault[]; asked: number }[] = [
    { what: "answers 500", faults: ["error", "error"], asked: 0 },
    { what: "answers with invalid JSON", faults: ["garbage"], asked: 1 },
    { what: "answers with an invalid payment URL", faults: ["nonsense"], asked: 1 },
    { what: "closes the connection", faults: ["hangs-up", "hangs-up"], asked: 2 },
    { what: "does not answer", faults: ["hangs", "hangs"], asked: 2 },
  ];
  test.for(failures)("$what, the customer gets a 503, and the payment has failed", async ({ faults, asked }) => {
    const { visitor } = await signUpVisitor(gateway);
    const askedBefore = stripe.requests.length;
    stripe.faults.push(...faults);
    const { status, body, headers } = await visitor.post("/checkouts", { amount: "20" });
    expect([status, body.error.code, headers.get("retry-after")]).toEqual([503, "overloaded", "30"]);
    expect(body.error.message).toBe(
      "Payments are unavailable at the moment. You were not charged. Try again in 30 seconds.",
    );
    expect(stripe.faults).toEqual([]);
    expect(stripe.requests).toHaveLength(askedBefore + asked);
    const { data } = (await visitor.get("/checkouts")).body;
    expect(data).toMatchObject([{ state: "failed", url: null, paid_at: null }]);
    expect(await readCash(visitor)).toBe("0.00");
  });

  const recoveries: { what: string; faults: StripeFault[] }[] = [
    { what: "fails", faults: ["error"] },
    { what: "closes the connection", faults: ["hangs-up"] },
    { what: "does not answer", faults: ["hangs"] },
  ];
  test.for(recoveries)("$what once, the call for the same session is retried", async ({ faults }) => {
    const { visitor } = await signUpVisitor(gateway);
    const sessionsBefore = stripe.sessions.size;
    stripe.faults.push(...faults);
    const { status, body } = await visitor.post("/checkouts", { amount: "20" });
    expect([status, body.state]).toEqual([201, "open"]);
    expect(stripe.sessions.size).toBe(sessionsBefore + 1);
  });

  test("took money for a payment that we gave up, the money is still credited", async () => {
    const { visitor } = await signUpVisitor(gateway);
    stripe.faults.push("garbage");
    expect((await visitor.post("/checkouts", { amount: "20" })).status).toBe(503);
    const [failed] = (await visitor.get("/checkouts")).body.data;
    expect(await tellPaid(failed.id)).toBe(200);
    expect((await visitor.get(`/checkouts/${failed.id}`)).body.state).toBe("paid");
    expect(await readCash(visitor)).toBe("20.00");
  });
});

describe("the credit and the end of a checkout", () => {
  /** Makes a database statement fail while the work runs. */
  async function whileFailing(place: string, code: string, work: () => Promise<void>): Promise<void> {
    const { database } = gateway;
    await sql
      .raw(`create function fail_on_purpose() returns trigger language plpgsql as $$
        begin raise exception 'on purpose' using errcode = '${code}'; end $$`)
      .execute(database);
    await sql
      .raw(`create trigger a_failure before ${place} for each row execute function fail_on_purpose()`)
      .execute(database);
    try {
      await work();
    } finally {
      await sql`drop function fail_on_purpose cascade`.execute(database);
    }
  }

  const breaks = [
    { where: "the credit is written", place: "insert on postings", code: "P0001", status: 500 },
    { where: "the checkout is ended", place: "update on checkouts", code: "P0001", status: 500 },
    { where: "the database goes away", place: "update on checkouts", code: "57P01", status: 503 },
  ];
  test.for(breaks)("are atomic: a failure where $where undoes both", async ({ place, code, status }) => {
    const { visitor } = await signUpVisitor(gateway);
    const { body } = await visitor.post("/checkouts", { amount: "20" });
    await whileFailing(place, code, async () => {
      expect(await tellPaid(body.id)).toBe(status);
    });
    expect((await visitor.get(`/checkouts/${body.id}`)).body.state).toBe("open");
    expect(await readCash(visitor)).toBe("0.00");
    // Stripe retries an event that was not accepted.
    expect(await tellPaid(body.id)).toBe(200);
    expect((await visitor.get(`/checkouts/${body.id}`)).body.state).toBe("paid");
    expect(await readCash(visitor)).toBe("20.00");
  });

  test("are final: not even the database owner can undo a paid checkout", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const { body } = await visitor.post("/checkouts", { amount: "20" });
    await tellPaid(body.id);
    const change = gateway.database.updateTable("checkouts").set({ state: "open", ended_at: null });
    await expect(change.where("id", "=", body.id).execute()).rejects.toThrow("a paid checkout cannot be changed");
  });
});

test("without Stripe keys no payment can start, and earlier payments can be read", async () => {
  await using plain = await startGateway({ settings: { ...visitorSettings } });
  const { visitor } = await signUpVisitor(plain);
  expect((await visitor.get("/site")).body.payments).toBe("none");
  const { status, body } = await visitor.post("/checkouts", { amount: "20" });
  expect([status, body.error.code, body.error.message]).toEqual([
    501,
    "endpoint_not_released",
    "Card payments aren't enabled.",
  ]);
  expect((await visitor.get("/checkouts")).body.data).toEqual([]);
  const headers = { "content-type": "application/json" };
  const event = await fetch(`${plain.siteUrl}/payments/stripe`, { method: "POST", headers, body: "{}" });
  expect(event.status).toBe(501);
});

const halves = [
  {
    settings: { stripe_secret_key: "sk_test_x" },
    sentence: /Only one of stripe_secret_key and stripe_webhook_secret is set/,
  },
  {
    settings: { stripe_webhook_secret: "whsec_x" },
    sentence: /Only one of stripe_secret_key and stripe_webhook_secret is set/,
  },
  { settings: { stripe_secret_key: "pk_test_x", stripe_webhook_secret: "whsec_x" }, sentence: /has the wrong format/ },
  { settings: { stripe_secret_key: "sk_test_x", stripe_webhook_secret: "we_x" }, sentence: /has the wrong format/ },
  {
    settings: { stripe_secret_key: "${NOT_SET_ANYWHERE}", stripe_webhook_secret: "whsec_x" },
    sentence: /The variable of stripe_secret_key is not set/,
  },
  { settings: { payment_amount_min: 2000 }, sentence: /payment_amount_min \(2000\) is more than/ },
];
test.for(halves)("the settings $settings are rejected with a clear error", ({ settings, sentence }) => {
  const standard = loadSettings({ environment: {}, directory: "/" });
  expect(() => readPaymentSettings({ ...standard, ...settings })).toThrow(sentence);
});
