import { afterAll, beforeAll, expect, test } from "vitest";
import { everyEntry, listAudit, verifyAudit } from "../../src/features/audit/index.ts";
import {
  goodPassword,
  type SiteVisitor,
  signUpVisitor,
  visitorSettings,
  visitSite,
} from "../harness/site/site-visitor.ts";
import { readBase32, showTotp } from "../harness/site/totp-app.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Person = { visitor: SiteVisitor; email: string; accountId: string; userId: string };

async function signUp(): Promise<Person> {
  const { visitor, email } = await signUpVisitor(gateway);
  const { account, user } = (await visitor.get("/session")).body;
  return { visitor, email, accountId: account.id, userId: user.id };
}

async function readActions(accountId: string) {
  const entries = await listAudit(gateway.database, { ...everyEntry, accountId }, { before: null, limit: 100 });
  return entries.toReversed();
}

test("keys: each change is one entry with the terms before and after, by the user and address, without the secret", async () => {
  const { visitor, accountId, userId } = await signUp();
  const made = (await visitor.post("/keys", { name: "backend", budget: { amount: "5.00", period: "month" } })).body;
  await visitor.patch(`/keys/${made.id}`, { name: "worker" });
  const rotated = (await visitor.post(`/keys/${made.id}/rotate`, { overlap_minutes: 5 })).body;
  await visitor.delete(`/keys/${rotated.id}`);
  await visitor.delete(`/keys/${rotated.id}`);
  const entries = await readActions(accountId);
  expect(entries).toMatchObject([
    { action: "key.created", subject: made.id, after: { name: "backend", budget: "5.00 per month" } },
    { action: "key.changed", subject: made.id, before: { name: "backend" }, after: { name: "worker" } },
    { action: "key.rotated", subject: made.id, after: { replaced_by: rotated.id, overlap_minutes: 5 } },
    { action: "key.revoked", subject: rotated.id, before: { name: "worker" } },
  ]);
  for (const { actor, address, requestId } of entries) {
    expect(actor).toEqual({ kind: "user", id: userId, name: userId });
    expect([address, requestId]).toEqual([visitor.address, expect.stringMatching(/^req_/)]);
  }
  const text = JSON.stringify(entries, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(text).not.toContain(made.key);
  expect(text).not.toContain(rotated.key);
});

test("a change that is rejected leaves no entry", async () => {
  const { visitor, accountId } = await signUp();
  expect((await visitor.post("/keys", { name: "" })).status).toBe(400);
  expect((await visitor.delete("/keys/key_missing")).status).toBe(404);
  expect((await visitor.delete("/sessions/ses_missing")).status).toBe(404);
  expect((await visitor.delete("/auto_top_up")).status).toBe(200);
  expect((await readActions(accountId)).map(({ action }) => action)).toEqual(["top_up.switched_off"]);
});

test("password, two-step sign-in and sessions", async () => {
  const { visitor, email, accountId, userId } = await signUp();
  const other = visitSite(gateway);
  await other.post("/sign-in", { email, password: goodPassword });
  const listed = (await visitor.get("/sessions")).body.data;
  const [old] = listed.filter((session: { is_current: boolean }) => !session.is_current);
  expect((await visitor.delete(`/sessions/${old.id}`)).status).toBe(204);
  expect((await visitor.delete("/sessions")).status).toBe(204);
  const change = { current_password: goodPassword, new_password: "another four random words" };
  expect((await visitor.post("/password", change)).status).toBeLessThan(300);
  const { secret } = (await visitor.post("/totp")).body;
  expect((await visitor.post("/totp/confirm", { code: showTotp(readBase32(secret), new Date()) })).status).toBe(200);
  expect((await visitor.post("/totp/backup-codes")).status).toBe(200);
  expect((await visitor.delete("/totp")).status).toBeLessThan(300);
  const entries = await readActions(accountId);
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ["session.ended", old.id],
    ["session.others_ended", userId],
    ["password.changed", userId],
    ["two_step.enabled", userId],
    ["two_step.codes_renewed", userId],
    ["two_step.disabled", userId],
  ]);
});

test("webhook endpoints, by the owner in the console and by a program with a key", async () => {
  const { visitor, accountId, userId } = await signUp();
  const made = (await visitor.post("/webhook_endpoints", { url: "https://example.com/a" })).body;
  const { key, id: keyId } = (await visitor.post("/keys", { name: "program" })).body;
  const patched = await fetch(`${gateway.baseUrl}/webhook_endpoints/${made.id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ enabled: false }),
  });
  expect(patched.status).toBe(200);
  expect((await visitor.post(`/webhook_endpoints/${made.id}/rotate_secret`)).status).toBe(200);
  expect((await visitor.delete(`/webhook_endpoints/${made.id}`)).status).toBe(200);
  const entries = (await readActions(accountId)).filter(({ action }) => action.startsWith("webhook."));
  const byUser = { kind: "user", id: userId };
  expect(entries).toMatchObject([
    { action: "webhook.created", actor: byUser, after: { url: "https://example.com/a", enabled: true } },
    {
      action: "webhook.changed",
      actor: { kind: "key", id: keyId },
      before: { enabled: true },
      after: { enabled: false },
    },
    { action: "webhook.secret_rotated", actor: byUser },
    { action: "webhook.deleted", actor: byUser, before: { enabled: false } },
  ]);
  expect(JSON.stringify(entries.map(({ before, after }) => [before, after]))).not.toContain(made.secret);
  expect((await verifyAudit(gateway.database)).fault).toBeNull();
});
