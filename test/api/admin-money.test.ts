import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runVerification } from "../../src/features/admin/index.ts";
import { sumMoneySlots } from "../../src/features/costs/index.ts";
import { bookCredit, findViolations, rollUpUsage } from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { makeAdminKey, type Operator, openWithKey, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const clock = createTestClock(new Date("2026-11-15T12:00:00Z"));
const minuteMs = 60_000;
let stripe: StripeServer;
let gateway: TestGateway;
let operator: Operator;

beforeAll(async () => {
  stripe = await startStripeServer({ clock });
  const settings = {
    ...visitorSettings,
    stripe_secret_key: stripe.secretKey,
    stripe_webhook_secret: stripe.webhookSecret,
  };
  gateway = await startGateway({ settings, clock, stripe: { url: stripe.url } });
  operator = await signUpOperator(gateway, { now: () => clock.now() });
});
afterAll(async () => {
  const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() });
  await gateway[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

async function pay(amount: string): Promise<{ id: string; accountId: AccountId }> {
  const { visitor } = await signUpVisitor(gateway);
  const { body } = await visitor.post("/checkouts", { amount });
  const session = stripe.find(body.id);
  stripe.pay(session);
  const signed = stripe.sign(stripe.createEvent("checkout.session.completed", session));
  const { status } = await fetch(`${gateway.siteUrl}/payments/stripe`, { method: "POST", ...signed });
  expect(status).toBe(200);
  return { id: body.id, accountId: (await visitor.get("/session")).body.account.id };
}

async function topUp(accountId: AccountId, amount: bigint): Promise<void> {
  const booking = { kind: "top-up" as const, amount: nano(amount) };
  await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
}

async function chat(key: string): Promise<void> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

const listAudit = async (subject: string) => (await operator.admin.get(`/audit?subject=${subject}`)).body.data;

test("payments are listed by time, state and origin, page by page", async () => {
  const made = [];
  for (const amount of ["10", "20", "30"]) {
    made.push(await pay(amount));
    clock.advance(1000);
  }
  const first = (await operator.admin.get("/payments?state=paid&limit=2")).body;
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual([made[2]?.id, made[1]?.id]);
  const second = (await operator.admin.get(`/payments?state=paid&limit=2&after=${first.next_cursor}`)).body;
  expect(second.data.map(({ id }: { id: string }) => id)).toEqual([made[0]?.id]);
  expect(second.has_more).toBe(false);
  expect((await operator.admin.get("/payments?state=mismatched")).body.data).toEqual([]);
  expect((await operator.admin.get("/payments?origin=automatic")).body.data).toEqual([]);
  expect((await operator.admin.get(`/payments?account_id=${made[0]?.accountId}`)).body.data).toHaveLength(1);
});

test("a payment is refunded once per reference, clawed back, and audited before and after Stripe is called", async () => {
  const { id, accountId } = await pay("20");
  const body = { amount: "5.00", reason: "double payment", reference: "case 9" };
  const refunded = await operator.admin.post(`/payments/${id}/refund`, body);
  expect(refunded).toMatchObject({
    status: 200,
    body: { refunded: "5.00", can_refund: true, reversals: [{ kind: "refund", clawed_back: "5.00", owed: "0.00" }] },
  });
  expect((await operator.admin.post(`/payments/${id}/refund`, body)).body.refunded).toBe("5.00");
  expect((await operator.admin.get(`/accounts/${accountId}`)).body.balance.available).toBe("15.00");
  const actions = (await listAudit(id)).map(({ action }: { action: string }) => action);
  expect(actions).toEqual([
    ...["payment.refunded", "payment.refund_asked", "payment.refunded", "payment.refund_asked"],
  ]);
  const whole = await operator.admin.post(`/payments/${id}/refund`, { reason: "all of it" });
  expect(whole.body).toMatchObject({ refunded: "20.00", can_refund: false });
  const again = await operator.admin.post(`/payments/${id}/refund`, { reason: "and more" });
  expect([again.status, again.body.error.param]).toEqual([400, "amount"]);
  const listed = (await operator.admin.get("/reversals?kind=refund")).body.data;
  expect(listed.map(({ payment_id: payment }: { payment_id: string }) => payment)).toEqual([id, id]);
});

test("a refund that Stripe rejects changes nothing, and one of too much names the amount", async () => {
  const { id } = await pay("20");
  const { status, body } = await operator.admin.post(`/payments/${id}/refund`, { amount: "21.00", reason: "typo" });
  expect([status, body.error.param]).toEqual([400, "amount"]);
  expect((await operator.admin.get(`/payments/${id}`)).body).toMatchObject({ refunded: "0.00", reversals: [] });
  const missing = await operator.admin.post("/payments/chk_missing/refund", { reason: "x" });
  expect(missing.status).toBe(404);
});

test("a debt of a spent payment freezes the account until it is waived", async () => {
  const { id, accountId } = await pay("20");
  const booking = { kind: "adjust" as const, amount: nano(-20_000_000_000n) };
  await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "spent", reference: null });
  await operator.admin.post(`/payments/${id}/refund`, { reason: "fraud" });
  const [stop] = (await operator.admin.get("/frozen-accounts")).body.data;
  expect(stop).toMatchObject({ id: accountId, kind: "debt", owed: "20.00", payment_id: id });
  expect((await operator.admin.get("/today")).body.owed).toBe("20.00");
  const unfreeze = await operator.admin.post(`/accounts/${accountId}/unfreeze`, { reason: "please" });
  expect(unfreeze.status).toBe(400);
  expect((await operator.admin.post(`/payments/${id}/waive`, { reason: "goodwill" })).body.waived).toBe("20.00");
  expect((await operator.admin.get("/frozen-accounts")).body.data).toEqual([]);
  expect(await listAudit(id)).toMatchObject([{ action: "payment.debt_waived", after: { waived: "20.00" } }, {}, {}]);
});

test("codes are created in batches, shown once, and revoked one by one or together", async () => {
  const made = await operator.admin.post("/code-batches", { amount: "5.00", count: 3, note: "fair", reason: "fair" });
  expect(made).toMatchObject({ status: 201, body: { kind: "gift", codes: 3, redeemed: 0, revoked: 0 } });
  const { id, texts } = made.body;
  expect(new Set(texts).size).toBe(3);
  const { visitor } = await signUpVisitor(gateway);
  expect((await visitor.post("/codes/redeem", { code: texts[0] })).status).toBeLessThan(300);
  const listed = (await operator.admin.get(`/codes?batch_id=${id}`)).body;
  expect(listed.data.map(({ state }: { state: string }) => state).toSorted()).toEqual(["open", "open", "redeemed"]);
  const open = listed.data.find(({ state }: { state: string }) => state === "open");
  expect((await operator.admin.post(`/codes/${open.id}/revoke`, { reason: "lost" })).body.state).toBe("revoked");
  expect((await operator.admin.post(`/code-batches/${id}/revoke`, { reason: "over" })).body.revoked).toBe(1);
  expect((await operator.admin.post(`/code-batches/${id}/revoke`, { reason: "again" })).body.revoked).toBe(0);
  const [batch] = (await operator.admin.get("/code-batches")).body.data;
  expect(batch).toMatchObject({ id, redeemed: 1, revoked: 2, created_by: operator.email });
  const answers = JSON.stringify([listed, batch, await listAudit(id), gateway.logs]);
  for (const text of texts) expect(answers).not.toContain(text);
  expect(await listAudit(id)).toHaveLength(2);
  for (const [wrong, param] of [
    [{ amount: "0", count: 1 }, "amount"],
    [{ amount: "1", count: 0 }, "count"],
    [{ amount: "1", count: 1, kind: "cash", gift_days: 3 }, "gift_days"],
  ] as const) {
    const { status, body } = await operator.admin.post("/code-batches", { ...wrong, reason: "wrong" });
    expect([status, body.error.param]).toEqual([400, param]);
  }
});

test("a day's figures come from slots, roll-ups and the charges since, and never count anything twice", async () => {
  clock.advance(26 * 60 * minuteMs);
  await operator.confirm();
  const caller = await gateway.createCaller();
  await topUp(caller.accountId, 10_000_000_000n);
  await chat(caller.key);
  const read = async () => (await operator.admin.get("/today")).body;
  const first = await read();
  expect(first.current).toMatchObject({ money_in: "10.00", calls: 1, active_accounts: 1 });
  expect(Number(first.current.revenue)).toBeGreaterThan(0);
  // A job of the gateway counts these at any time.
  const anyCount = expect.toSatisfy((count) => count === null || typeof count === "number");
  const current = { ...first.current, requests: anyCount, errors: anyCount };
  clock.advance(2 * minuteMs);
  await rollUpUsage(gateway.parts);
  expect((await read()).current).toEqual(current);
  clock.advance(60 * minuteMs);
  await rollUpUsage(gateway.parts);
  // Ten runs store everything back to the first account.
  for (let run = 0; run < 10; run += 1) await sumMoneySlots(gateway.parts);
  expect((await read()).current).toEqual(current);
  await chat(caller.key);
  expect((await read()).current.calls).toBe(2);
  const { rows } = await sql<{ calls: bigint }>`select sum(calls)::bigint as calls from money_slots`.execute(
    gateway.database,
  );
  expect(rows[0]?.calls).toBe(1n);
});

test("revenue, credit sold and liability of each day add up to what customers have now", async () => {
  const { data } = (await operator.admin.get("/revenue?by=day&from=2026-11-14")).body;
  const today = (await operator.admin.get("/today")).body;
  expect(data[0].liability).toBe(today.liability);
  type Row = Record<
    "sold" | "given" | "refunded" | "adjusted" | "reversed" | "expired" | "revenue" | "liability",
    string
  >;
  const change = (row: Row) =>
    [row.sold, row.given, row.refunded, row.adjusted].reduce((sum, text) => sum + toNano(text), 0n) -
    [row.reversed, row.expired, row.revenue].reduce((sum, text) => sum + toNano(text), 0n);
  for (const [index, row] of (data as Row[]).entries()) {
    const before = (data as Row[])[index + 1];
    expect(toNano(row.liability)).toBe((before === undefined ? 0n : toNano(before.liability)) + change(row));
  }
  expect((await operator.admin.get("/revenue?by=month")).body.data).toHaveLength(12);
  for (const query of ["from=2026-13-01", "from=2026-11-15&to=2026-11-14", "from=2020-01-01", "by=year"]) {
    expect((await operator.admin.get(`/revenue?${query}`)).status, query).toBe(400);
  }
});

function toNano(text: string): bigint {
  const [whole = "0", part = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, "0"));
  return text.startsWith("-") ? -size : size;
}

test("every movement of credit is listed with its channel, page by page", async () => {
  const { data } = (await operator.admin.get("/credit-entries?kind=top_up&limit=100")).body;
  expect(new Set(data.map(({ channel }: { channel: string }) => channel))).toEqual(new Set(["stripe", "operator"]));
  const paged = [];
  for (let after = ""; ; ) {
    const { body } = await operator.admin.get(`/credit-entries?limit=3${after}`);
    paged.push(...body.data);
    if (!body.has_more) break;
    after = `&after=${body.next_cursor}`;
  }
  const all = (await operator.admin.get("/credit-entries?limit=100")).body.data;
  expect(paged).toEqual(all);
  expect(all.map(({ kind }: { kind: string }) => kind)).toEqual(
    expect.arrayContaining(["reversal", "adjustment", "grant"]),
  );
  expect((await operator.admin.get("/credit-entries?kind=charge")).status).toBe(400);
});

test("margins are listed by model and account", async () => {
  const from = "2026-11-16T00:00:00Z&to=2026-11-18T00:00:00Z";
  const { data } = (await operator.admin.get(`/margins?by=model&from=${from}`)).body;
  expect(data).toMatchObject([{ subject: "sandbox-chat", calls: 2 }]);
  const byAccount = (await operator.admin.get(`/margins?by=account&from=${from}`)).body.data;
  expect(byAccount).toMatchObject([{ email: expect.stringContaining("@"), calls: 2 }]);
  expect((await operator.admin.get("/margins?from=2020-01-01T00:00:00Z")).body.error.param).toBe("from");
});

test("a verification runs once, one at a time, and its result stays", async () => {
  const asked = await operator.admin.post("/ledger-verifications", { scope: "whole" });
  expect(asked).toMatchObject({ status: 202, body: { state: "waiting", asked_by: operator.email } });
  expect((await operator.admin.post("/ledger-verifications")).status).toBe(400);
  const run = () => runVerification({ ...gateway.parts, signal: new AbortController().signal, onFound: () => {} });
  await run();
  await run();
  const listed = (await operator.admin.get("/ledger-verifications")).body.data;
  const done = listed.find(({ id }: { id: string }) => id === asked.body.id);
  expect(done).toMatchObject({ id: asked.body.id, state: "passed", violation_count: 0 });
  expect(done.accounts).toBeGreaterThan(0);
  expect(await listAudit(asked.body.id)).toMatchObject([{ action: "ledger.verification_started" }]);
});

test("a violated invariant is in the result, freezes the account, and only a repaired account is unfrozen", async () => {
  const { accountId } = await gateway.createCaller();
  await topUp(accountId, 1_000_000_000n);
  await sql`update buckets set posted = posted + 1 where account_id = ${accountId}`.execute(gateway.database);
  const asked = await operator.admin.post("/ledger-verifications");
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  await runVerification({ ...gateway.parts, signal: new AbortController().signal, onFound: () => {} });
  const { data: verifications } = (await operator.admin.get("/ledger-verifications")).body;
  const failed = verifications.find(({ id }: { id: string }) => id === asked.body.id);
  expect(failed).toMatchObject({ state: "failed", violations: expect.arrayContaining([expect.anything()]) });
  expect((await operator.admin.get("/frozen-accounts")).body.data).toMatchObject([
    { id: accountId, kind: "invariant" },
  ]);
  await operator.confirm();
  const path = `/accounts/${accountId}/unfreeze`;
  expect((await operator.admin.post(path, { reason: "too early" })).status).toBe(400);
  await sql`update buckets set posted = posted - 1 where account_id = ${accountId}`.execute(gateway.database);
  expect((await operator.admin.post(path, { reason: "repaired" })).status).toBe(200);
  expect((await operator.admin.get("/frozen-accounts")).body.data).toEqual([]);
  expect(await listAudit(accountId)).toMatchObject([{ action: "account.unfrozen", reason: "repaired" }]);
});

test("an admin key reads days of UTC", async () => {
  const key = openWithKey(gateway, await makeAdminKey(gateway, { scopes: ["money"], access: "read" }));
  const { body } = await key.get("/today?day=2026-11-15");
  expect(body).toMatchObject({ day: "2026-11-15", time_zone: "UTC", current: { from: "2026-11-15T00:00:00.000Z" } });
  expect((await key.get("/today?day=2026-02-30")).body.error.param).toBe("day");
});
