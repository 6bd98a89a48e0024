import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type AdminClient,
  makeAdminKey,
  type Operator,
  openWithKey,
  signUpOperator,
} from "../harness/admin/admin-visitor.ts";
import { goodPassword, listMails, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { readBase32, showTotp } from "../harness/site/totp-app.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
let operator: Operator;
let key: AdminClient;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
  operator = await signUpOperator(gateway);
  key = openWithKey(gateway, await makeAdminKey(gateway));
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function signUp() {
  const { visitor, email } = await signUpVisitor(gateway);
  const { account, user } = (await visitor.get("/session")).body;
  return { visitor, email, accountId: account.id as string, userId: user.id as string };
}

test("notes are kept for operators, newest first, and no customer sees them", async () => {
  const { visitor, accountId } = await signUp();
  const path = `/accounts/${accountId}/notes`;
  expect((await operator.admin.post(path, { text: " Called about the invoice. " })).status).toBe(201);
  expect((await key.post(path, { text: "VIP" })).status).toBe(201);
  expect((await operator.admin.post(path, { text: "  " })).body.error.param).toBe("text");
  const { body } = await operator.admin.get(path);
  expect(body.data).toMatchObject([
    { text: "VIP", author: "admin key script" },
    { text: "Called about the invoice.", author: operator.email },
  ]);
  const missing = await operator.admin.post("/accounts/acct_missing/notes", { text: "x" });
  expect(missing.body.error.code).toBe("not_found");
  const seen = JSON.stringify([(await visitor.get("/account")).body, (await visitor.get("/session")).body]);
  expect(seen).not.toContain("VIP");
});

test("closing rejects calls, revokes keys and ends sessions; resuming opens the account without the keys", async () => {
  const { visitor, accountId } = await signUp();
  const made = (await visitor.post("/keys", { name: "backend" })).body;
  expect((await gateway.get("/models", made.key)).status).toBe(200);
  const closed = await operator.admin.post(`/accounts/${accountId}/close`, { reason: "asked by mail" });
  expect(closed).toMatchObject({ status: 200, body: { status: "closed" } });
  await expect.poll(async () => (await gateway.get("/models", made.key)).status).not.toBe(200);
  expect((await visitor.get("/session")).status).toBe(401);
  const [entry] = (await operator.admin.get(`/audit?account_id=${accountId}`)).body.data;
  expect(entry).toMatchObject({ action: "account.closed", reason: "asked by mail", after: { revoked_keys: 1 } });
  const resumed = await operator.admin.post(`/accounts/${accountId}/resume`, { reason: "came back" });
  expect(resumed.body).toMatchObject({ status: "active", closed_at: null });
  await expect.poll(async () => (await gateway.get("/models", made.key)).status).toBe(401);
});

test("a lost authenticator is reset: sessions end, the password alone signs in, and the user gets a mail", async () => {
  const { visitor, email, accountId, userId } = await signUp();
  const path = `/accounts/${accountId}/users/${userId}/reset_two_step`;
  expect((await operator.admin.post(path, { reason: "lost phone" })).status).toBe(400);
  const { secret } = (await visitor.post("/totp")).body;
  await visitor.post("/totp/confirm", { code: showTotp(readBase32(secret), new Date()) });
  const other = await gateway.createCaller();
  const wrong = await operator.admin.post(`/accounts/${other.accountId}/users/${userId}/reset_two_step`, {
    reason: "x",
  });
  expect(wrong.status).toBe(404);
  expect((await operator.admin.post(path, { reason: "lost phone" })).status).toBe(204);
  expect((await visitor.get("/session")).status).toBe(401);
  const again = visitSite(gateway);
  expect((await again.post("/sign-in", { email, password: goodPassword })).body).toMatchObject({ kind: "signed-in" });
  const mails = await listMails(again, email);
  expect(mails[0]?.subject).toContain("reset by the service");
  const [entry] = (await operator.admin.get(`/audit?account_id=${accountId}&action=two_step.reset`)).body.data;
  expect(entry).toMatchObject({ subject: userId, reason: "lost phone", actor: { name: operator.email } });
});

test("no key resets the two-step sign-in of an operator", async () => {
  const second = await signUpOperator(gateway);
  const path = `/accounts/${second.accountId}/users/${second.userId}/reset_two_step`;
  expect((await key.post(path, { reason: "lost" })).body.error.code).toBe("operator_not_permitted");
  expect((await operator.admin.post(path, { reason: "lost" })).status).toBe(204);
  expect((await second.admin.get("/accounts")).status).toBe(401);
});
