// @module-tag slow
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../src/features/accounts/index.ts";
import { everyEntry, listAudit } from "../../src/features/audit/index.ts";
import { readBooks } from "../../src/features/books/index.ts";
import {
  applyTerms,
  type BillingDocument,
  bookPayment,
  issueStatements,
  listDocuments,
  presentNumber,
} from "../../src/features/invoices/index.ts";
import { bookCredit, findViolations, readBalance, rollUpUsage } from "../../src/features/ledger/index.ts";
import { sendNotices } from "../../src/features/notices/index.ts";
import { documentLatePayments } from "../../src/features/payments/document-checkout.ts";
import { applyPaymentEvent } from "../../src/features/payments/external/apply-payment-event.ts";
import { presentWithCurrency } from "../../src/lib/currency.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { type StripeServer, type StripeSession, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));
const hourMs = 60 * 60_000;
const terms = `
seller: {name: Beispiel GmbH, address: "Straße 1\\n10115 Berlin", country: DE, tax_id: DE123456789}
numbers: {invoice: "INV-{year}-", credit_note: "CN-{year}-"}
tax:
  - {country: DE, rate: 19}
  - {country: EU, tax_id: with, rate: 0, note: "Reverse charge: the recipient owes the VAT."}
  - {country: "*", rate: 0}
`;

let testDatabase: TestDatabase;
let stripe: StripeServer;
let gateway: TestGateway;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  stripe = await startStripeServer({ clock });
  const settings = {
    ...visitorSettings,
    stripe_secret_key: stripe.secretKey,
    stripe_webhook_secret: stripe.webhookSecret,
  };
  gateway = await startGateway({ settings, clock, sharedDatabase: testDatabase, stripe: { url: stripe.url } });
});

afterAll(async () => {
  const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() });
  await gateway[Symbol.asyncDispose]();
  await testDatabase.close();
  await stripe[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

type Payer = { visitor: SiteVisitor; accountId: AccountId };

async function signUpPayer(): Promise<Payer> {
  const { visitor } = await signUpVisitor(gateway);
  const { body } = await visitor.get("/session");
  return { visitor, accountId: body.account.id };
}

async function tell(type: string, object: Record<string, unknown>): Promise<void> {
  const { body, headers } = stripe.sign(stripe.createEvent(type, object));
  const { status } = await fetch(`${gateway.siteUrl}/payments/stripe`, { method: "POST", body, headers });
  expect(status).toBe(200);
}

async function pay({ visitor }: Payer, amount = "20"): Promise<StripeSession> {
  const { body } = await visitor.post("/checkouts", { amount });
  const session = stripe.find(body.id);
  stripe.pay(session);
  await tell("checkout.session.completed", session);
  return session;
}

/** Oldest first, without statements. */
async function listOf(accountId: AccountId): Promise<BillingDocument[]> {
  const documents = await listDocuments(gateway.database, { accountId, limit: 100 });
  return documents.filter(({ kind }) => kind !== "statement").toReversed();
}

const putTerms = (source = terms) => applyTerms({ database: gateway.database, clock }, { source, actor: "ada" });

describe("terms", () => {
  const wrong = [
    ["seller: {name: A, address: B, country: DE}\ntax: [{country: DE, rate: 19}]", /tax has no rule for all other/],
    ["seller: {name: A, address: B, country: Germany}", /seller\.country/],
    ["seller: {name: A, country: DE}", /seller\.address is missing/],
    ["seller: {name: A, address: B, country: DE}\nprices: 1", /prices is not a field/],
    ["seller: {name: A, address: B, country: DE}\ntax: [{country: '*', rate: 19.12345}]", /3 decimal places/],
    ["seller: {name: A, address: B, country: DE}\nnumbers: {invoice: 'A-', credit_note: 'A-'}", /same prefix twice/],
    ["seller: {name: A, address: B, country: DE}\nnumbers: {invoice: 'A1'}", /numbers\.invoice/],
    ["seller: {name: 한국, address: B, country: DE}", /name contains "한"/],
    ["seller: [", /not valid YAML/],
  ] as const;

  test.for(wrong)("%s is refused with the place and the fix", async ([source, message]) => {
    await expect(putTerms(source)).rejects.toThrow(message);
  });
});

describe("before the first terms", () => {
  test("nothing is issued, and payments of that time get no documents later", async () => {
    const payer = await signUpPayer();
    const session = await pay(payer);
    expect((await payer.visitor.get("/billing_details")).body).toMatchObject({
      has_documents: false,
      legal_name: null,
    });
    clock.advance(1000);
    expect(await putTerms()).toEqual({ version: 1, isNew: true });
    expect(await putTerms()).toEqual({ version: 1, isNew: false });
    await tell("checkout.session.completed", session);
    await tell("refund.created", stripe.refund(session, 500));
    expect(await listOf(payer.accountId)).toEqual([]);
    expect((await payer.visitor.get("/billing_details")).body).toMatchObject({ has_documents: true });
  });
});

describe("a payment", () => {
  test("has one invoice, however often its event arrives, and its owner is mailed the number", async () => {
    const payer = await signUpPayer();
    const session = await pay(payer);
    await Promise.all([1, 2, 3].map(() => tell("checkout.session.completed", session)));
    const [invoice, ...others] = await listOf(payer.accountId);
    expect(others).toEqual([]);
    expect(invoice).toMatchObject({ kind: "invoice", total: 20_000_000_000n, tax: 3_190_000_000n, channel: "stripe" });
    const number = invoice === undefined ? "" : presentNumber(invoice);
    expect(number).toMatch(/^INV-2026-\d{6}$/);
    const mails: string[] = [];
    await sendNotices({
      ...{ database: gateway.database, clock, siteUrl: gateway.siteUrl },
      sendMail: ({ subject }) => mails.push(subject),
    });
    expect(mails.filter((subject) => subject.includes(number))).toEqual([`Invoice and receipt ${number}: 20.00 USD`]);
  });

  test("that an operator books has an invoice too; a repeated one has none, nor has a gift", async () => {
    const { accountId } = await signUpPayer();
    const request = { accountId, actor: "ada", reason: "Bank transfer", reference: "BT-1" };
    const parts = { ...gateway.parts, clock, currency: "USD" };
    const booking = { kind: "top-up", amount: nano(50_000_000_000n) } as const;
    const { transactionId } = await bookPayment(parts, { ...request, booking });
    await bookPayment(parts, { ...request, booking });
    const gift = { kind: "grant", unit: "money", amount: 1_000_000_000n, expiresAt: null } as const;
    await bookCredit(parts, { ...request, reference: null, booking: gift });
    expect(await listOf(accountId)).toMatchObject([
      {
        total: 50_000_000_000n,
        paymentId: transactionId,
        channel: "operator",
        content: { title: "Invoice and receipt" },
      },
    ]);
    const fine = { ...request, reference: "BT-2", booking: { kind: "top-up", amount: nano(10_005_000_000n) } } as const;
    await expect(bookPayment(parts, fine)).rejects.toMatchObject({ code: "invalid_parameter" });
    expect(await listOf(accountId)).toHaveLength(1);
  });

  test("credited by a gateway of an earlier version gets its invoice from the job", async () => {
    const payer = await signUpPayer();
    const { accountId } = payer;
    const session = await pay(payer);
    const [invoice] = await listOf(accountId);
    const paymentId = String(session.metadata.checkout);
    expect(invoice?.paymentId).toBe(paymentId);
    // Earlier versions store a paid checkout, and no document.
    const late = "chk_late0000000000000000000000";
    const checkout = gateway.database.selectFrom("checkouts").selectAll().where("id", "=", paymentId);
    const row = await checkout.executeTakeFirstOrThrow();
    const copy = { ...row, id: late, session_id: "cs_late", payment_id: "pi_late" };
    await gateway.database.insertInto("checkouts").values(copy).execute();
    await bookCredit(gateway.parts, {
      ...{ accountId, actor: "test", reason: "as the earlier version", reference: null },
      booking: { kind: "top-up", amount: nano(20_000_000_000n) },
    });
    await documentLatePayments({ database: gateway.database, clock });
    await documentLatePayments({ database: gateway.database, clock });
    expect((await listOf(accountId)).map(({ paymentId: id }) => id)).toEqual([paymentId, late]);
  });
});

describe("a correction", () => {
  test("credits a refund in the invoice's parts of net and tax, to the cent and to the last part", async () => {
    const payer = await signUpPayer();
    const session = await pay(payer, "10");
    await payer.visitor.patch("/billing_details", { country: "DE", legal_name: "Ada GmbH" });
    for (const amount of [333, 333, 334]) await tell("refund.created", stripe.refund(session, amount));
    const [invoice, ...notes] = await listOf(payer.accountId);
    expect(invoice).toMatchObject({ total: 10_000_000_000n, tax: 1_600_000_000n });
    expect(notes.map(({ kind, total, corrects }) => [kind, total, corrects])).toEqual([
      ["credit_note", 3_330_000_000n, invoice?.id],
      ["credit_note", 3_330_000_000n, invoice?.id],
      ["credit_note", 3_340_000_000n, invoice?.id],
    ]);
    expect(notes.reduce((sum, { tax }) => sum + tax, 0n)).toBe(invoice?.tax);
    // A credit note has the parties of its invoice, whatever changed since.
    expect(notes[0]?.content.buyer).toEqual(invoice?.content.buyer);
    expect(new Set(notes.map(({ prefix }) => prefix))).toEqual(new Set(["CN-2026-"]));
  });

  test("of a dispute is taken back when it is won, and of a refund when it fails; repeated events change nothing", async () => {
    const payer = await signUpPayer();
    const session = await pay(payer);
    const dispute = stripe.dispute(session, 2000);
    await tell("charge.dispute.created", dispute);
    await tell("charge.dispute.created", dispute);
    dispute.status = "won";
    await tell("charge.dispute.closed", dispute);
    await tell("charge.dispute.closed", dispute);
    const refund = stripe.refund(session, 500);
    await tell("refund.created", refund);
    refund.status = "failed";
    await tell("refund.failed", refund);
    const documents = await listOf(payer.accountId);
    expect(documents.map(({ kind, total, reversalId }) => [kind, total, reversalId])).toEqual([
      ["invoice", 20_000_000_000n, null],
      ["credit_note", 20_000_000_000n, dispute.id],
      ["invoice", 20_000_000_000n, dispute.id],
      ["credit_note", 5_000_000_000n, refund.id],
      ["invoice", 5_000_000_000n, refund.id],
    ]);
  });

  test("of credit that was spent is issued at once, and the books carry the debt until it is paid", async () => {
    const payer = await signUpPayer();
    const { accountId } = payer;
    const session = await pay(payer);
    const spent = { kind: "adjust", amount: nano(-15_000_000_000n) } as const;
    await bookCredit(gateway.parts, { accountId, actor: "test", reason: "spent", reference: null, booking: spent });
    await tell("refund.created", stripe.refund(session, 2000));
    const read = async () => await sumAccounts(accountId);
    expect(await read()).toMatchObject({ "cash:stripe": 0n, customer_debt: 15_000_000_000n, customer_credit: 0n });
    await pay(payer, "20");
    expect(await read()).toMatchObject({
      "cash:stripe": 20_000_000_000n,
      customer_debt: 0n,
      customer_credit: -5_000_000_000n,
      tax_payable: -3_190_000_000n,
    });
  });
});

/** The balance of each account of the books, debit less credit; fails unless both sides are equal on every day. */
async function sumAccounts(accountId: AccountId | null = null): Promise<Record<string, bigint>> {
  const days = new Map<string, bigint>();
  const accounts: Record<string, bigint> = {};
  const period = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2028-01-01T00:00:00Z") };
  for await (const lines of readBooks(gateway.database, { ...period, accountId })) {
    for (const { day, account, debit, credit } of lines) {
      days.set(day, (days.get(day) ?? 0n) + debit - credit);
      accounts[account] = (accounts[account] ?? 0n) + debit - credit;
    }
  }
  expect([...days.values()].filter((difference) => difference !== 0n)).toEqual([]);
  return accounts;
}

describe("billing details", () => {
  test("are on later documents, decide the tax, and do not reach those that were issued", async () => {
    const payer = await signUpPayer();
    const { visitor, accountId } = payer;
    await pay(payer);
    const [first] = await listOf(accountId);
    const before = await readPdf(visitor, first?.id);
    const { status, body } = await visitor.patch("/billing_details", {
      ...{ legal_name: " Exemple SARL ", address: "1 rue de l'Exemple\n\n 75001 Paris", country: "fr" },
      ...{ tax_id: "FR 40 303.265045", purchase_order: "PO-7" },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ object: "billing_details", has_documents: true, legal_name: "Exemple SARL" },
      ...{ address: "1 rue de l'Exemple\n75001 Paris", country: "FR", tax_id: "FR40303265045", purchase_order: "PO-7" },
    });
    await pay(payer);
    const [same, second] = await listOf(accountId);
    expect(same).toEqual(first);
    expect(second).toMatchObject({
      tax: 0n,
      content: { buyer: { legalName: "Exemple SARL", taxId: "FR40303265045" } },
    });
    expect(second?.content.tax?.note).toContain("Reverse charge");
    expect(await readPdf(visitor, first?.id)).toEqual(before);
    await visitor.patch("/billing_details", { purchase_order: null });
    expect((await visitor.get("/billing_details")).body).toMatchObject({ purchase_order: null, country: "FR" });
    // The audit log has the names of the fields, not what a person may want deleted.
    const entries = await listAudit(gateway.database, { ...everyEntry, accountId }, { before: null, limit: 10 });
    expect(entries.map(({ action, after }) => [action, after])).toEqual([
      ["billing_details.changed", { fields: ["purchase_order"] }],
      ["billing_details.changed", { fields: ["legal_name", "address", "country", "tax_id", "purchase_order"] }],
    ]);
  });

  const refused = [
    [{ country: "Germany" }, "country"],
    [{ country: "ZZ" }, "country"],
    [{ tax_id: "DE123456789" }, "country"],
    [{ country: "DE", tax_id: "FR123456789" }, "tax_id"],
    [{ legal_name: "한국 주식회사" }, "legal_name"],
    [{ purchase_order: "a\u0007b" }, "purchase_order"],
    [{ address: "1\n2\n3\n4\n5\n6\n7" }, "address"],
    [{ name: "Ada" }, "name"],
    [{}, null],
  ] as const;

  test.for(refused)("%o is refused with the field's name", async ([change, param]) => {
    const { visitor } = await signUpPayer();
    const { status, body } = await visitor.patch("/billing_details", change);
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
  });
});

async function readPdf(visitor: SiteVisitor, id = ""): Promise<Buffer> {
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const headers = { cookie, "x-forwarded-for": visitor.address };
  const response = await fetch(`${gateway.siteUrl}/console/api/documents/${id}/pdf`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/pdf");
  return Buffer.from(await response.arrayBuffer());
}

describe("the console", () => {
  test("lists an account's own documents, newest first, and downloads each as a PDF", async () => {
    const payer = await signUpPayer();
    for (const amount of ["10", "11", "12"]) await pay(payer, amount);
    const { body: page } = await payer.visitor.get("/documents?limit=2");
    expect(page).toMatchObject({ has_more: true, data: [{ total: "12.00" }, { total: "11.00", kind: "invoice" }] });
    const { body: rest } = await payer.visitor.get(`/documents?limit=2&after=${page.next_cursor}`);
    expect(rest).toMatchObject({ has_more: false, next_cursor: null, data: [{ total: "10.00", tax: "1.60" }] });
    const [{ id }] = page.data;
    expect((await readPdf(payer.visitor, id)).subarray(0, 5).toString()).toBe("%PDF-");

    const stranger = await signUpPayer();
    expect((await stranger.visitor.get("/documents")).body).toMatchObject({ data: [], has_more: false });
    expect((await stranger.visitor.get(`/documents/${id}/pdf`)).status).toBe(404);
    expect((await stranger.visitor.get(`/documents?after=${id}`)).status).toBe(400);
  });
});

describe("a statement", () => {
  test("of a month that ended states every movement and both balances, and is issued once", async () => {
    const payer = await signUpPayer();
    const { accountId } = payer;
    await pay(payer, "30");
    const gift = { kind: "grant", unit: "money", amount: 2_000_000_000n, expiresAt: null } as const;
    await bookCredit(gateway.parts, { accountId, actor: "ada", reason: "gift", reference: null, booking: gift });
    await callModel(payer);
    const month = clock.now().toISOString().slice(0, 7);
    const monthEnd = new Date(Date.UTC(clock.now().getUTCFullYear(), clock.now().getUTCMonth() + 1, 1));
    clock.advance(monthEnd.getTime() - clock.now().getTime() + 30 * 60_000);
    const run = () =>
      issueStatements({ database: gateway.database, clock, currency: "USD" }, new AbortController().signal);
    await run();
    expect(await findStatements(accountId)).toEqual([]);
    clock.advance(hourMs);
    // One of the month's charges is in the roll-ups or in none: both are counted.
    await rollUpUsage({ database: gateway.database, clock });
    await Promise.all([run(), run()]);
    await run();
    const [statement, ...others] = await findStatements(accountId);
    expect(others).toEqual([]);
    // The person's session has ended meanwhile.
    const { balance } = await readBalance(gateway.database, accountId, clock.now());
    expect(statement).toMatchObject({ month, tax: 0n, content: { tax: null } });
    expect(statement?.total).toBe(balance.available);
    const lines = statement?.content.lines ?? [];
    expect(lines[0]).toEqual({ text: "Balance at the beginning", amount: "0", isSum: true });
    expect(lines.map(({ text }) => text)).toContain("Payments and redeemed codes");
    const moved = lines.filter(({ isSum }) => isSum !== true).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    expect(moved).toBe(statement?.total);
  });
});

async function callModel({ accountId }: Payer): Promise<void> {
  const { text: key } = await createApiKey({ ...gateway.parts, randomBytes }, { accountId, name: "test" });
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

async function findStatements(accountId: AccountId): Promise<BillingDocument[]> {
  return await listDocuments(gateway.database, { accountId, kind: "statement", limit: 10 });
}

describe("a currency", () => {
  const events = { logger: createLogger({ level: "error", format: "json", write: () => {} }) };

  test.for([
    { currency: "JPY", amount: "1500", total: "1,500 JPY", tax: "239 JPY", net: "1,261 JPY" },
    { currency: "KWD", amount: "5.125", total: "5.125 KWD", tax: "0.818 KWD", net: "4.307 KWD" },
  ])("of another number of decimals, $currency, is rounded once, to its smallest amount", async (asked) => {
    const { currency, amount } = asked;
    const { accountId } = await signUpPayer();
    const data = { payment_id: `${currency}-1`, account_id: accountId, amount, currency };
    const dependencies = { ...events, database: gateway.database, clock, currency };
    await applyPaymentEvent(dependencies, { type: "payment.succeeded", data });
    const [invoice] = await listOf(accountId);
    const present = (text = "") => presentWithCurrency(nano(BigInt(text)), currency);
    const { total, tax } = invoice?.content ?? {};
    expect([present(total), present(tax?.tax), present(tax?.net)]).toEqual([asked.total, asked.tax, asked.net]);
  });
});
