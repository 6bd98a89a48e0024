// @module-tag slow
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bookCredit,
  findViolations,
  listStatement,
  openHolds,
  settleHold,
  sweepLedger,
} from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { inTransaction } from "../../src/platform/database/database.ts";
import { createBill } from "../harness/ledger/ledger-process.ts";
import { type StripeServer, type StripeSession, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));
const secondMs = 1000;

let testDatabase: TestDatabase;
let stripe: StripeServer;
let gateway: TestGateway;
let otherGateway: TestGateway;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  stripe = await startStripeServer({ clock });
  const settings = {
    ...visitorSettings,
    stripe_secret_key: stripe.secretKey,
    stripe_webhook_secret: stripe.webhookSecret,
  };
  const options = { settings, clock, sharedDatabase: testDatabase, stripe: { url: stripe.url } };
  gateway = await startGateway(options);
  otherGateway = await startGateway(options);
});

afterAll(async () => {
  // Whatever the tests above did, every cent is accounted for.
  const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() });
  const { rows: strays } = await sql`
    select checkout.id, posting.id as posting_id from (select * from checkouts where state = 'paid') checkout
      full join (select * from postings where cause_kind = 'payment') posting
        on posting.id = 'txn_' || substr(checkout.id, 5) and posting.cause_id = checkout.id
          and posting.amount = checkout.amount_nano and posting.account_id = checkout.account_id
      where checkout.id is null or posting.id is null`.execute(gateway.database);
  const logs = JSON.stringify([gateway.logs, otherGateway.logs]);
  await otherGateway[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await testDatabase.close();
  await stripe[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
  expect(strays).toEqual([]);
  expect(logs).not.toContain(stripe.secretKey);
  expect(logs).not.toContain(stripe.webhookSecret);
});

type Payer = { visitor: SiteVisitor; accountId: AccountId };

async function signUpPayer(): Promise<Payer> {
  const { visitor } = await signUpVisitor(gateway);
  const { body } = await visitor.get("/session");
  return { visitor, accountId: body.account.id };
}

/** A person with a started payment. */
async function begin(amount = "20"): Promise<Payer & { id: string; session: StripeSession }> {
  const payer = await signUpPayer();
  const { status, body } = await payer.visitor.post("/checkouts", { amount });
  expect(status).toBe(201);
  return { ...payer, id: body.id, session: stripe.find(body.id) };
}

type Delivery = { to?: TestGateway; signed?: Parameters<StripeServer["sign"]>[1] };

async function deliver(event: unknown, { to = gateway, signed = {} }: Delivery = {}): Promise<Response> {
  const { body, headers } = stripe.sign(event, signed);
  return await fetch(`${to.siteUrl}/payments/stripe`, { method: "POST", body, headers });
}

async function tell(type: string, object: Record<string, unknown>, delivery: Delivery = {}): Promise<number> {
  return (await deliver(stripe.createEvent(type, object), delivery)).status;
}

async function readOutcome({ visitor, accountId, id }: Payer & { id: string }) {
  const { body: checkout } = await visitor.get(`/checkouts/${id}`);
  const { body: balance } = await visitor.get("/balance");
  const entries = await listStatement(gateway.database, accountId, { from: null, to: null, limit: 100 });
  expect(balance.available_balance).toBe(balance.cash_balance);
  return { state: checkout.state, cash: balance.cash_balance, entries: entries.length };
}

const paidOnce = { state: "paid", cash: "20.00", entries: 1 };

describe("a payment", () => {
  test("is stored, created at Stripe, and credited once Stripe reports it paid", async () => {
    const { visitor, accountId } = await signUpPayer();
    const { status, body } = await visitor.post("/checkouts", { amount: "20.5" });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: "checkout",
      id: expect.stringMatching(/^chk_/),
      amount: "20.50",
      currency: "USD",
      state: "open",
      url: expect.stringMatching(/^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_/),
      created: clock.now().getTime() / 1000,
      expires_at: "2026-11-15T13:00:00.000Z",
      paid_at: null,
      is_automatic: false,
      reversals: [],
    });

    const request = stripe.requests.at(-1);
    expect(request?.headers).toMatchObject({ "idempotency-key": body.id });
    expect(request?.headers).not.toHaveProperty("x-stripe-client-telemetry");
    const backUrl = `http://localhost:4242/console/billing?checkout=${body.id}`;
    expect(Object.fromEntries(request?.form ?? [])).toMatchObject({
      client_reference_id: body.id,
      "metadata[account]": accountId,
      "metadata[checkout]": body.id,
      "payment_intent_data[metadata][checkout]": body.id,
      "line_items[0][price_data][unit_amount]": "2050",
      "line_items[0][price_data][currency]": "usd",
      "adaptive_pricing[enabled]": "false",
      success_url: backUrl,
      cancel_url: `${backUrl}&canceled=1`,
    });
    expect((await visitor.get("/balance")).body.cash_balance).toBe("0.00");

    const session = stripe.find(body.id);
    stripe.pay(session);
    const answer = await deliver(stripe.createEvent("checkout.session.completed", session));
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    expect((await visitor.get(`/checkouts/${body.id}`)).body).toMatchObject({
      state: "paid",
      url: null,
      paid_at: clock.now().toISOString(),
    });
    expect((await visitor.get("/balance")).body).toMatchObject({ cash_balance: "20.50", available_balance: "20.50" });
    const entries = await listStatement(gateway.database, accountId, { from: null, to: null, limit: 100 });
    expect(entries).toMatchObject([
      {
        transactionId: `txn_${body.id.slice(4)}`,
        kind: "top_up",
        unit: "money",
        amount: 20_500_000_000n,
        balance: 20_500_000_000n,
        cause: { kind: "payment", id: body.id },
      },
    ]);
  });

  const orders: { heard: string[]; ends: { state: string; cash: string; entries: number } }[] = [
    { heard: ["completed paid"], ends: paidOnce },
    { heard: ["completed paid", "completed paid"], ends: paidOnce },
    { heard: ["completed paid", "expired"], ends: paidOnce },
    { heard: ["expired", "completed paid"], ends: paidOnce },
    { heard: ["completed unpaid", "async_payment_succeeded paid"], ends: paidOnce },
    { heard: ["async_payment_succeeded paid", "completed unpaid"], ends: paidOnce },
    { heard: ["async_payment_succeeded paid", "async_payment_failed unpaid"], ends: paidOnce },
    { heard: ["async_payment_failed unpaid", "async_payment_succeeded paid", "completed paid"], ends: paidOnce },
    { heard: ["async_payment_succeeded unpaid"], ends: { state: "open", cash: "0.00", entries: 0 } },
    { heard: ["completed unpaid"], ends: { state: "open", cash: "0.00", entries: 0 } },
    { heard: ["completed unpaid", "async_payment_failed unpaid"], ends: { state: "failed", cash: "0.00", entries: 0 } },
    { heard: ["async_payment_failed unpaid", "completed unpaid"], ends: { state: "failed", cash: "0.00", entries: 0 } },
    { heard: ["async_payment_failed unpaid", "expired"], ends: { state: "failed", cash: "0.00", entries: 0 } },
    { heard: ["expired", "expired", "completed unpaid"], ends: { state: "expired", cash: "0.00", entries: 0 } },
  ];
  test.for(orders)("with the events $heard ends $ends.state with $ends.cash", async ({ heard, ends }) => {
    const payer = await begin();
    stripe.pay(payer.session, "slow");
    for (const words of heard) {
      const [event = "", payment_status = "unpaid"] = words.split(" ");
      expect(await tell(`checkout.session.${event}`, { ...payer.session, payment_status })).toBe(200);
    }
    expect(await readOutcome(payer)).toEqual(ends);
  });

  test("by a slow method needs no more action while its money is on its way", async () => {
    const payer = await begin();
    stripe.pay(payer.session, "slow");
    await tell("checkout.session.completed", payer.session);
    expect((await payer.visitor.get(`/checkouts/${payer.id}`)).body).toMatchObject({ state: "open", url: null });
  });

  test("is credited once, however many gateways receive its events at once", async () => {
    const payer = await begin();
    stripe.pay(payer.session);
    const types = ["completed", "async_payment_succeeded", "expired", "async_payment_failed", "completed"];
    const statuses = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        tell(`checkout.session.${types[number % types.length]}`, payer.session, {
          to: number % 2 === 0 ? gateway : otherGateway,
        }),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await readOutcome(payer)).toEqual(paidOnce);
  });

  test("received by another gateway updates this one's cached balance", async () => {
    const payer = await begin();
    stripe.pay(payer.session);
    await tell("checkout.session.completed", payer.session);
    const chat = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
    const before = (await payer.visitor.post("/chat/completions", chat)).status;
    const { body } = await payer.visitor.post("/checkouts", { amount: "30" });
    const session = stripe.find(body.id);
    stripe.pay(session);
    await tell("checkout.session.completed", session, { to: otherGateway });
    const after = (await payer.visitor.post("/chat/completions", chat)).status;
    const entries = await listStatement(gateway.database, payer.accountId, { from: null, to: null, limit: 100 });
    expect([before, after]).toEqual([200, 200]);
    expect(entries.filter(({ kind }) => kind === "top_up").map(({ amount }) => amount)).toEqual([
      20_000_000_000n,
      30_000_000_000n,
    ]);
  });
});

describe("an event", () => {
  test("without a recent Stripe signature is rejected without a reason and changes nothing", async () => {
    const payer = await begin();
    stripe.pay(payer.session);
    const event = stripe.createEvent("checkout.session.completed", payer.session);
    const good = stripe.sign(event);
    const url = `${gateway.siteUrl}/payments/stripe`;
    const late = new Date(clock.now().getTime() - 301 * secondMs);
    const { "stripe-signature": signature = "", ...withoutSignature } = good.headers;
    const attempts = [
      { ...stripe.sign(event, { secret: "whsec_of_somebody_else" }) },
      { ...stripe.sign(event, { at: late }) },
      { body: good.body.replace("2000", "9000"), headers: good.headers },
      { body: good.body, headers: withoutSignature },
      { body: good.body, headers: { ...good.headers, "stripe-signature": signature.replace("v1=", "v2=") } },
      { body: good.body, headers: { ...good.headers, "stripe-signature": "t=now,v1=,,=" } },
      { ...stripe.sign("no event"), body: "{" },
    ];
    for (const { body, headers } of attempts) {
      const answer = await fetch(url, { method: "POST", body, headers });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({
        error: {
          message: "The signature is invalid or too old.",
          type: "invalid_request_error",
          param: "Stripe-Signature",
          code: "invalid_parameter",
        },
        request_id: answer.headers.get("x-request-id"),
      });
    }
    expect(await readOutcome(payer)).toEqual({ state: "open", cash: "0.00", entries: 0 });
    const almostLate = new Date(clock.now().getTime() - 299 * secondMs);
    expect(await tell("checkout.session.completed", payer.session, { signed: { at: almostLate } })).toBe(200);
    expect(await readOutcome(payer)).toEqual(paidOnce);
  });

  test("that is too large or not JSON is rejected before it is parsed", async () => {
    const url = `${gateway.siteUrl}/payments/stripe`;
    const { headers } = stripe.sign({});
    const large = await fetch(url, { method: "POST", headers, body: "x".repeat(257 * 1024) });
    expect(large.status).toBe(413);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await fetch(url, { method: "POST", headers: { ...headers, ...form }, body: "a=b" })).status).toBe(415);
    expect((await fetch(url)).status).toBe(405);
  });

  const strangeAnswers = [
    { what: "another amount", change: { amount_total: 1999 }, note: /1999 USD instead of 2000 USD/ },
    { what: "no amount", change: { amount_total: null }, note: /instead of 2000 USD/ },
    { what: "another currency", change: { currency: "jpy" }, note: /2000 JPY/ },
    { what: "another account", change: { metadata: { account: "acct_other" } }, note: /acct_other/ },
  ];
  test.for(strangeAnswers)(
    "about $what credits no account, then or later, and is shown to the operator",
    async (answer) => {
      const payer = await begin();
      stripe.pay(payer.session);
      const metadata = { ...payer.session.metadata, ...answer.change.metadata };
      expect(await tell("checkout.session.completed", { ...payer.session, ...answer.change, metadata })).toBe(200);
      expect(await tell("checkout.session.completed", payer.session)).toBe(200);
      expect(await readOutcome(payer)).toEqual({ state: "mismatched", cash: "0.00", entries: 0 });
      const told = gateway.logs.filter(({ level, checkout_id }) => level === "error" && checkout_id === payer.id);
      expect(told).toMatchObject([{ note: expect.stringMatching(answer.note) }]);
    },
  );

  test("about another session cannot change a checkout, whatever it contains", async () => {
    const payer = await begin();
    const foreign = { ...payer.session, id: "cs_test_foreign", status: "complete", payment_intent: "pi_foreign" };
    expect(await tell("checkout.session.completed", { ...foreign, payment_status: "paid" })).toBe(200);
    expect(await tell("checkout.session.expired", foreign)).toBe(200);
    expect(await readOutcome(payer)).toEqual({ state: "open", cash: "0.00", entries: 0 });
    stripe.pay(payer.session);
    await tell("checkout.session.completed", payer.session);
    expect(await readOutcome(payer)).toEqual(paidOnce);
  });

  test("that concerns no account here is accepted and ignored", async () => {
    const payer = await begin();
    const { metadata, ...unmarked } = payer.session;
    const paid = { payment_status: "paid" };
    const stranger = { ...payer.session, metadata: { ...metadata, checkout: "chk_nobody" }, ...paid };
    expect(await tell("checkout.session.completed", stranger)).toBe(200);
    expect(await tell("checkout.session.completed", { ...unmarked, ...paid })).toBe(200);
    expect(await tell("checkout.session.completed", { ...unmarked, id: 7 })).toBe(200);
    expect(await tell("customer.created", { id: "cus_1" })).toBe(200);
    expect(await tell("charge.refunded", { id: "ch_1" })).toBe(200);
    for (const event of [null, [], 7, {}, { type: "checkout.session.completed", data: null }]) {
      expect((await deliver(event)).status).toBe(200);
    }
    expect(await readOutcome(payer)).toEqual({ state: "open", cash: "0.00", entries: 0 });
  });
});

describe("credit of a refunded or disputed payment", () => {
  async function pay(amount = "20"): Promise<Awaited<ReturnType<typeof begin>>> {
    const payer = await begin(amount);
    stripe.pay(payer.session);
    await tell("checkout.session.completed", payer.session);
    return payer;
  }

  /** Spends as calls do, and more than a small call costs. */
  async function spend({ accountId }: Payer, amount: bigint): Promise<void> {
    const id = gateway.parts.ids.next("hold");
    const cause = { kind: "request", id: "req_test" } as const;
    const common = { accountId, amount: nano(amount), quota: null, budget: null, cause };
    const expiresAt = new Date(clock.now().getTime() + 60 * secondMs);
    await inTransaction(gateway.database, async (tx) => {
      const [held] = await openHolds(tx, [{ ...common, id, expiresAt }], clock.now());
      expect(held?.kind).toBe("held");
      const settlement = {
        accountId,
        holdId: id,
        bill: createBill(amount),
        overrun: "refuse",
        budgetAmount: null,
      } as const;
      expect((await settleHold(tx, settlement, clock.now())).kind).toBe("settled");
    });
  }

  async function chat({ visitor }: Payer): Promise<string> {
    const { body } = await visitor.post("/chat/completions", {
      ...{ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }], max_tokens: 5 },
    });
    return body.error?.code ?? "ok";
  }

  async function readMoney({ visitor }: Payer) {
    const [{ body: balance }, { body: debt }] = [await visitor.get("/balance"), await visitor.get("/debt")];
    return { cash: balance.cash_balance, debt: debt.amount };
  }

  test("is reversed once per refund, however often the event arrives, and the statement has the reason", async () => {
    const payer = await pay();
    const [first, second] = [stripe.refund(payer.session, 500), stripe.refund(payer.session, 700)];
    for (const to of [gateway, otherGateway, gateway]) {
      expect(await tell("refund.created", first, { to })).toBe(200);
      expect(await tell("refund.updated", second, { to })).toBe(200);
    }
    // The older event type does not name the refund, so the gateway fetches it from Stripe.
    const { payment_intent, metadata } = payer.session;
    await tell("charge.refunded", { id: "ch_1", payment_intent, metadata, amount_refunded: 1200 });
    expect(await readMoney(payer)).toEqual({ cash: "8.00", debt: "0.00" });
    const { body } = await payer.visitor.get("/ledger");
    expect(
      body.data.map(({ kind, amount, description, cause }: Record<string, unknown>) => [
        kind,
        amount,
        description,
        cause,
      ]),
    ).toEqual([
      ["reversal", "-7.00", "Payment refunded", { kind: "payment_refund", id: payer.id }],
      ["reversal", "-5.00", "Payment refunded", { kind: "payment_refund", id: payer.id }],
      ["top_up", "20.00", "Payment", { kind: "payment", id: payer.id }],
    ]);
  });

  test("that is already spent becomes debt: the account cannot spend until new credit pays it first", async () => {
    const payer = await pay();
    expect(await chat(payer)).toBe("ok");
    const { visitor } = payer;
    await spend(payer, 15_000_000_000n);
    const { cash: left } = await readMoney(payer);
    const dispute = stripe.dispute(payer.session, 2000);
    expect(await tell("charge.dispute.created", dispute, { to: otherGateway })).toBe(200);
    const { cash, debt } = await readMoney(payer);
    expect([cash, Number(left) + Number(debt)]).toEqual(["0.00", 20]);
    expect(await chat(payer)).toBe("account_suspended");
    expect((await visitor.get("/debt")).body.data).toEqual([{ checkout_id: payer.id, kind: "dispute", amount: debt }]);
    expect((await visitor.get(`/checkouts/${payer.id}`)).body.reversals).toEqual([
      { kind: "dispute", amount: "20.00", in_effect: true },
    ]);
    // A gift pays no debt, and cannot be spent while there is one.
    const request = { accountId: payer.accountId, actor: "test", reason: "test", reference: null };
    const gift = { kind: "grant", unit: "money", amount: 1_000_000_000n, expiresAt: null } as const;
    await bookCredit(gateway.parts, { ...request, booking: gift });
    expect(await chat(payer)).toBe("account_suspended");
    const { body } = await visitor.post("/checkouts", { amount: "10" });
    stripe.pay(stripe.find(body.id));
    await tell("checkout.session.completed", stripe.find(body.id));
    expect(await readMoney(payer)).toMatchObject({ cash: "0.00" });
    expect(await chat(payer)).toBe("account_suspended");
    await bookCredit(gateway.parts, { ...request, booking: { kind: "top-up", amount: nano(10_000_000_000n) } });
    expect(await readMoney(payer)).toMatchObject({ debt: "0.00" });
    expect(await chat(payer)).toBe("ok");
    // The bank decides for us: the whole reversed amount is credited again, once.
    const before = Number((await readMoney(payer)).cash);
    for (const type of ["closed", "funds_reinstated", "updated"]) {
      await tell(`charge.dispute.${type}`, { ...dispute, status: "won" });
      await tell("charge.dispute.created", dispute);
    }
    expect(Number((await readMoney(payer)).cash) - before).toBe(20);
    const { body: ledger } = await visitor.get("/ledger");
    expect(ledger.data[0]).toMatchObject({
      kind: "reversal",
      amount: "20.00",
      description: "Dispute of a payment won",
    });
  });

  test("is reversed except for the part on hold, and that part when the call has ended", async () => {
    const payer = await pay();
    const { accountId } = payer;
    const holdId = gateway.parts.ids.next("hold");
    const cause = { kind: "request", id: "req_test" } as const;
    const hold = { id: holdId, accountId, amount: nano(5_000_000_000n), quota: null, budget: null, cause };
    const expiresAt = new Date(clock.now().getTime() + 60 * secondMs);
    await inTransaction(gateway.database, (tx) => openHolds(tx, [{ ...hold, expiresAt }], clock.now()));
    await tell("refund.created", stripe.refund(payer.session, 2000));
    expect(await readMoney(payer)).toEqual({ cash: "5.00", debt: "5.00" });
    const bill = createBill(2_000_000_000n);
    const end = { accountId, holdId, bill, overrun: "take-available", budgetAmount: null } as const;
    await inTransaction(gateway.database, (tx) => settleHold(tx, end, clock.now()));
    await sweepLedger({ ...gateway.parts, onTrouble: (about, error) => expect([about, error]).toBeNull() });
    expect(await readMoney(payer)).toEqual({ cash: "0.00", debt: "2.00" });
  });

  const heard: { what: string; news: [kind: "refund" | "dispute", amount: number, status?: string][]; left: string }[] =
    [
      {
        what: "refunded and disputed",
        news: [
          ["refund", 2000],
          ["dispute", 2000],
        ],
        left: "0.00",
      },
      {
        what: "disputed twice",
        news: [
          ["dispute", 2000],
          ["dispute", 2000, "lost"],
        ],
        left: "0.00",
      },
      {
        what: "refunded in part and disputed in part",
        news: [
          ["refund", 500],
          ["dispute", 700],
        ],
        left: "8.00",
      },
      { what: "inquired about", news: [["dispute", 2000, "warning_needs_response"]], left: "20.00" },
      {
        what: "disputed after a failed refund",
        news: [
          ["refund", 2000, "failed"],
          ["dispute", 300],
        ],
        left: "17.00",
      },
      { what: "disputed with an unknown status", news: [["dispute", 2000, "somehow"]], left: "20.00" },
    ];
  test.for(heard)("that was $what is reversed once, with the payment's event before or after", async (one) => {
    const [early, late] = [await pay(), await begin()];
    stripe.pay(late.session);
    for (const payer of [early, late]) {
      for (const [kind, amount, status] of one.news) {
        const type = kind === "refund" ? "refund.created" : "charge.dispute.created";
        expect(await tell(type, stripe[kind](payer.session, amount, status))).toBe(200);
      }
      await tell("checkout.session.completed", payer.session);
      expect(await readMoney(payer)).toEqual({ cash: one.left, debt: "0.00" });
    }
  });

  test("is reversed once, however many gateways receive the events, in any order", async () => {
    const payer = await pay();
    const [refund, dispute] = [stripe.refund(payer.session, 400), stripe.dispute(payer.session, 900)];
    const events: [string, Record<string, unknown>][] = [
      ["refund.created", { ...refund, status: "pending" }],
      ["refund.updated", refund],
      ["charge.dispute.created", dispute],
      ["charge.dispute.closed", { ...dispute, status: "lost" }],
      ["checkout.session.completed", payer.session],
    ];
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, number) => {
        const [type, object] = events[number % events.length] ?? ["", {}];
        return tell(type, object, { to: number % 2 === 0 ? gateway : otherGateway });
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await readMoney(payer)).toEqual({ cash: "7.00", debt: "0.00" });
  });

  test("stays when the refund is of another payment", async () => {
    const payer = await pay();
    const foreign = { ...payer.session, payment_intent: "pi_somebody_else" };
    expect(await tell("refund.created", stripe.refund(foreign, 2000))).toBe(200);
    expect(await tell("charge.refunded", { id: "ch_2", payment_intent: "pi_somebody_else" })).toBe(200);
    expect(await readMoney(payer)).toEqual({ cash: "20.00", debt: "0.00" });
  });
});
