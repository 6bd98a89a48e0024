import { afterAll, beforeAll, expect, test } from "vitest";
import { createPlan } from "../../src/features/accounts/index.ts";
import { bookCredit, findViolations } from "../../src/features/ledger/index.ts";
import { nano } from "../../src/lib/money.ts";
import { makeAdminKey, type Operator, openWithKey, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
let operator: Operator;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
  operator = await signUpOperator(gateway);
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function readAudit(accountId: string) {
  return (await operator.admin.get(`/audit?account_id=${accountId}`)).body.data;
}

test("accounts are found by a part of their address, by id, plan and status, page by page", async () => {
  await createPlan(gateway.parts, { id: "gold", name: "Gold", limits: {} });
  const made = [];
  for (let count = 0; count < 5; count += 1) made.push(await gateway.createCaller({ planId: "gold" }));
  const first = await operator.admin.get("/accounts?plan=gold&limit=3");
  expect(first.body).toMatchObject({ object: "list", has_more: true });
  const second = await operator.admin.get(`/accounts?plan=gold&limit=3&after=${first.body.next_cursor}`);
  const found = [...first.body.data, ...second.body.data].map(({ id }: { id: string }) => id);
  expect(found).toEqual(made.map(({ accountId }) => accountId).toReversed());
  expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
  const [{ id, email }] = first.body.data;
  for (const words of [email.slice(2, 12).toUpperCase(), id]) {
    expect((await operator.admin.get(`/accounts?q=${words}`)).body.data).toMatchObject([{ id }]);
  }
  expect((await operator.admin.get("/accounts?q=%25")).body.data).toEqual([]);
  await operator.admin.post(`/accounts/${id}/suspend`, { reason: "test" });
  expect((await operator.admin.get("/accounts?status=suspended")).body.data).toMatchObject([{ id }]);
  const planless = (await operator.admin.get("/accounts?plan=none")).body.data;
  expect(planless.map((account: { id: string }) => account.id)).toContain(operator.accountId);
  expect(planless.every((account: { plan: string | null }) => account.plan === null)).toBe(true);
});

test("suspending rejects calls within a second, resuming accepts them, and both are audited with before and after", async () => {
  const caller = await gateway.createCaller();
  expect((await gateway.get("/models", caller.key)).status).toBe(200);
  const path = `/accounts/${caller.accountId}`;
  const suspended = await operator.admin.post(`${path}/suspend`, { reason: "  stolen card " });
  expect(suspended).toMatchObject({ status: 200, body: { status: "suspended" } });
  await expect.poll(async () => (await gateway.get("/models", caller.key)).status).toBe(403);
  expect((await operator.admin.post(`${path}/resume`, { reason: "cleared" })).body.status).toBe("active");
  await expect.poll(async () => (await gateway.get("/models", caller.key)).status).toBe(200);
  const [resumed, before] = await readAudit(caller.accountId);
  expect(before).toMatchObject({
    actor: { kind: "operator", id: operator.userId, name: operator.email },
    action: "account.suspended",
    subject: caller.accountId,
    reason: "stolen card",
    before: { suspended_at: null },
    after: { suspended_at: suspended.body.suspended_at },
    address: operator.visitor.address,
  });
  expect(resumed).toMatchObject({ action: "account.resumed", after: { suspended_at: null } });
  expect(before.request_id).toMatch(/^req_/);
});

test("a change without a reason is rejected and changes nothing", async () => {
  const { accountId } = await gateway.createCaller();
  for (const reason of ["", "   ", "x".repeat(501)]) {
    const { status, body } = await operator.admin.post(`/accounts/${accountId}/suspend`, { reason });
    expect([status, body.error.param]).toEqual([400, "reason"]);
  }
  const { body } = await operator.admin.post(`/accounts/${accountId}/suspend`);
  expect(body.error).toMatchObject({ code: "missing_parameter", param: "reason" });
  expect(await readAudit(accountId)).toEqual([]);
});

test("plan and limits change together or one by one; null removes a limit, and an absent one stays", async () => {
  const { accountId } = await gateway.createCaller();
  const change = (body: object) => operator.admin.send(`/accounts/${accountId}`, { method: "PATCH", body });
  const first = await change({
    plan: "gold",
    limits: { requests_per_minute: 7, tasks_in_flight: 3 },
    reason: "contract",
  });
  expect(first.body).toMatchObject({ plan: "gold", plan_name: "Gold" });
  const second = await change({ limits: { requests_per_minute: null }, reason: "end of contract" });
  expect(second.body.limits).toEqual({
    ...{ requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null, tasks_in_flight: 3 },
  });
  expect(second.body).toMatchObject({ plan: "gold", applied_limits: { requests_per_minute: 600, tasks_in_flight: 3 } });
  expect((await change({ reason: "nothing" })).body.error.code).toBe("missing_parameter");
  expect((await change({ plan: "lead", reason: "typo" })).body.error.code).toBe("not_found");
  expect((await change({ limits: { requests_per_minute: 0 }, reason: "zero" })).status).toBe(400);
  expect(await readAudit(accountId)).toHaveLength(2);
});

test("credit, grants, corrections and refunds are booked once per reference, with both balances in the audit log", async () => {
  const { accountId } = await gateway.createCaller();
  const book = (body: object) => operator.admin.post(`/accounts/${accountId}/credit`, { reason: "wire", ...body });
  const paid = { kind: "top_up", amount: "10.00", reference: "invoice 7" };
  const first = await book(paid);
  expect(first.body).toMatchObject({ object: "booking", replayed: false, available_balance: "10.00" });
  expect((await book(paid)).body).toMatchObject({ id: first.body.id, replayed: true, available_balance: "10.00" });
  expect((await book({ ...paid, amount: "11.00" })).body.error.code).toBe("idempotency_key_reused");
  expect((await book({ kind: "grant", amount: "2.50" })).body.available_balance).toBe("12.50");
  expect((await book({ kind: "grant", unit: "image", amount: "5" })).status).toBe(200);
  expect((await book({ kind: "adjust", amount: "-1.00" })).body.available_balance).toBe("11.50");
  expect((await book({ kind: "adjust", amount: "-100.00" })).body.error.code).toBe("insufficient_balance");
  for (const [wrong, param] of [
    [{ kind: "top_up", amount: "-1" }, "amount"],
    [{ kind: "top_up", amount: "0" }, "amount"],
    [{ kind: "top_up", amount: "1.00", unit: "image" }, "unit"],
    [{ kind: "adjust", amount: "1.00", expires_at: "2030-01-01T00:00:00Z" }, "expires_at"],
    [{ kind: "grant", unit: "image", amount: "1.5" }, "amount"],
    [{ kind: "gift", amount: "1.00" }, "kind"],
    [{ kind: "grant", amount: "1.00", expires_at: "tomorrow" }, "expires_at"],
  ] as const) {
    const { status, body } = await book(wrong);
    expect([status, body.error.param]).toEqual([400, param]);
  }
  const { body } = await operator.admin.get(`/accounts/${accountId}`);
  expect(body.balance).toMatchObject({ available: "11.50", cash: "9.00", gift: "2.50", quotas: { image: 5 } });
  const entries = await readAudit(accountId);
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    ...["credit.adjusted", "credit.granted", "credit.granted", "credit.added"],
  ]);
  expect(entries.at(-1)).toMatchObject({
    subject: first.body.id,
    before: { available: "0.00" },
    after: { available: "10.00", amount: "10.00", reference: "invoice 7" },
  });
});

test("a charge is refunded at most once, however often and from wherever it is tried", async () => {
  const caller = await gateway.createCaller();
  const booking = { kind: "top-up" as const, amount: nano(5_000_000_000n) };
  await bookCredit(gateway.parts, { ...caller, booking, actor: "test", reason: "test", reference: null });
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 }),
  });
  expect(response.status).toBe(200);
  await response.text();
  const list = async () => (await operator.admin.get(`/accounts/${caller.accountId}/charges`)).body.data;
  const [charge] = await list();
  expect(charge).toMatchObject({ model: "sandbox-chat", unit: "money", refunded: "0.00" });
  const key = openWithKey(gateway, await makeAdminKey(gateway, { scopes: ["money"] }));
  const body = { charge_id: charge.id, amount: charge.amount, reason: "bad answer" };
  const path = `/accounts/${caller.accountId}/refunds`;
  const answers = await Promise.all([operator.admin.post(path, body), key.post(path, body), key.post(path, body)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  expect(await list()).toMatchObject([{ refunded: charge.amount }]);
  const { body: account } = await operator.admin.get(`/accounts/${caller.accountId}`);
  expect(account.balance.available).toBe("5.00");
  expect(await readAudit(caller.accountId)).toHaveLength(1);
  const other = await gateway.createCaller();
  expect((await key.post(`/accounts/${other.accountId}/refunds`, body)).body.error.code).toBe("not_found");
  const now = gateway.parts.clock.now();
  expect(await findViolations(gateway.database, { kind: "whole", accountIds: [caller.accountId], now })).toEqual([]);
});

test("an account's keys are listed and revoked, without their secrets", async () => {
  const caller = await gateway.createCaller();
  const path = `/accounts/${caller.accountId}/keys`;
  const { body } = await operator.admin.get(path);
  expect(body.data).toMatchObject([{ id: caller.keyId, name: "test", kind: "secret", revoked_at: null }]);
  expect(JSON.stringify(body)).not.toContain(caller.key);
  const revoked = await operator.admin.post(`${path}/${caller.keyId}/revoke`, { reason: "leaked" });
  expect(revoked.body.revoked_at).not.toBeNull();
  await expect.poll(async () => (await gateway.get("/models", caller.key)).status).toBe(401);
  await operator.admin.post(`${path}/${caller.keyId}/revoke`, { reason: "again" });
  expect(await readAudit(caller.accountId)).toMatchObject([{ action: "key.revoked", subject: caller.keyId }]);
  const other = await gateway.createCaller();
  const wrong = await operator.admin.post(`/accounts/${other.accountId}/keys/${caller.keyId}/revoke`, { reason: "x" });
  expect(wrong.body.error.code).toBe("not_found");
});

test("the people of an account are shown with how they sign in", async () => {
  const { body } = await operator.admin.get(`/accounts/${operator.accountId}`);
  expect(body.members).toMatchObject([
    { user_id: operator.userId, email: operator.email, has_password: true, has_totp: true, is_email_verified: true },
  ]);
  expect(body.members[0].last_seen_at).not.toBeNull();
});
