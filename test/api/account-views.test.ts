// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revokeOperator } from "../../src/features/admin/index.ts";
import { everyEntry, listAudit, verifyAudit } from "../../src/features/audit/index.ts";
import { type Operator, onHost, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type FurnishedAccount, type FurnishedKind, furnishAccount } from "../harness/site/furnished-account.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createRunningClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Route = { method: string; path: string };

const routes: Route[] = Object.entries(
  (
    JSON.parse(readFileSync(join(repositoryDir, "docs/api/console-openapi.json"), "utf8")) as {
      paths: Record<string, object>;
    }
  ).paths,
).flatMap(([path, methods]) => Object.keys(methods).map((word) => ({ method: word.toUpperCase(), path })));
const reads = routes.filter(({ method }) => method === "GET");
const changes = routes.filter(({ method, path }) => method !== "GET" && path !== "/sign-out");

/** Reads that a view refuses. A new read is refused until it is in the table of `narrow-session.ts`; list it here or there. */
const closed = new Set([
  ...["/outbox", "/connect/requests/{id}", "/connect/requests/{id}/status", "/changes", "/search"],
  ...["/responses/{response_id}", "/responses/{response_id}/input_items"],
  ...["/conversations/{conversation_id}", "/conversations/{conversation_id}/items"],
  ...["/conversations/{conversation_id}/items/{item_id}", "/files/{file_id}/content"],
  ...["/tasks/{task_id}/request", "/tasks/{task_id}/events", "/requests/{request_id}/content"],
  ...["/webhook_secret", "/webhook_sessions/{id}/events"],
]);

let stripe: StripeServer;
let gateway: TestGateway;
let clock: TestClock;
let owner: FurnishedAccount;
let ownerId: string;
let operator: Operator;

beforeAll(async () => {
  clock = createRunningClock();
  stripe = await startStripeServer({ clock });
  gateway = await startGateway({
    clock,
    settings: {
      ...visitorSettings,
      stripe_secret_key: stripe.secretKey,
      stripe_webhook_secret: stripe.webhookSecret,
    },
    stripe: { url: stripe.url },
  });
  owner = await furnishAccount(gateway);
  ownerId = (await owner.visitor.get("/session")).body.account.id;
  operator = await signUpOperator(gateway, { now: () => clock.now() });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
});

/** Begins a view in the operator's browser. */
async function begin(by: Operator, accountId: string = ownerId) {
  const answer = await by.admin.post(`/accounts/${accountId}/views`, { reason: "asked why the task failed" });
  const [cookie = ""] = answer.headers.getSetCookie();
  const value = /^sluice-view=([^;]+)/.exec(cookie)?.[1];
  if (value !== undefined) by.visitor.cookies.set("sluice-view", value);
  return answer;
}

async function end(by: Operator): Promise<void> {
  expect((await by.admin.post("/view/end")).status).toBe(204);
  by.visitor.cookies.delete("sluice-view");
}

/** A code works once. */
async function confirmAgain(): Promise<void> {
  clock.advance(31_000);
  await operator.confirm();
}

function fill(path: string): string {
  const [, kind = ""] = path.split("/");
  const id = Object.hasOwn(owner.ids, kind) ? owner.ids[kind as FurnishedKind] : "x";
  return path
    .replace(/\{model_id\}/, "sandbox-chat")
    .replace(/\{[^}]+\}/, id)
    .replaceAll(/\{[^}]+\}/g, "x");
}

async function send(visitor: SiteVisitor, { method, path }: Route) {
  const headers = { origin: "http://localhost:4242", "sec-fetch-site": "same-origin" };
  const isForm = /^\/(files|images\/edits|audio\/trans)/.test(path);
  if (method === "GET" || method === "DELETE") return await visitor.send(method, fill(path), { headers });
  const type = isForm ? "multipart/form-data; boundary=x" : "application/json";
  const body = isForm ? "--x--\r\n" : "{}";
  return await visitor.send(method, fill(path), { body, headers: { ...headers, "content-type": type } });
}

describe("an operator's view of an account", () => {
  beforeAll(async () => {
    expect((await begin(operator)).status).toBe(201);
  });
  afterAll(() => end(operator));

  test.each(changes)("$method $path changes nothing", async (route) => {
    const { status, body } = await send(operator.visitor, route);
    expect([status, body.error.code]).toEqual([403, "view_read_only"]);
  });

  test.each(reads.filter(({ path }) => closed.has(path)))("GET $path is closed", async (route) => {
    const { status, body } = await send(operator.visitor, route);
    expect([status, body.error.code]).toEqual([403, "view_read_only"]);
  });

  test.each(reads.filter(({ path }) => !closed.has(path)))(
    "GET $path answers what the owner gets, without links, prompts and secrets",
    async (route) => {
      const seen = await send(operator.visitor, route);
      const own = await send(owner.visitor, route);
      expect([seen.status, seen.body?.error?.code]).toEqual([own.status, own.body?.error?.code]);
      const text = JSON.stringify(seen.body);
      expect(text).not.toMatch(/\/files\/file_\w+\?expires=/);
      expect(text).not.toMatch(/whsec_|sk-slc-\w{20}/);
      expect(text).not.toContain(operator.email);
      for (const word of owner.secrets) expect(text).not.toContain(`A ${word}`);
    },
  );

  test("shows the owner's data under the owner's name", async () => {
    const { body } = await operator.visitor.get("/session");
    expect(body).toMatchObject({ user: { email: owner.email }, account: { id: ownerId }, operator: null });
    expect(Date.parse(body.view.ends_at) - clock.now().getTime()).toBeLessThanOrEqual(30 * 60_000);
    const keys = (await operator.visitor.get("/keys")).body.data.map(({ id }: { id: string }) => id);
    expect(keys).toContain(owner.ids.keys);
    const task = (await operator.visitor.get(`/tasks/${owner.ids.tasks}`)).body;
    expect(task).toMatchObject({ id: owner.ids.tasks, status: "succeeded" });
    expect(task).not.toHaveProperty("prompt");
    expect(task.output[0].url).toMatch(/\/files\/file_\w+$/);
  });

  test("does not search prompts", async () => {
    for (const path of ["/tasks?q=canary", "/tasks/counts?q=canary"]) {
      expect((await operator.visitor.get(path)).body.error.code).toBe("view_read_only");
    }
  });

  test("reaches no other account, the operator's own included", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const made = (await visitor.post("/keys", { name: "theirs" })).body;
    expect((await operator.visitor.get(`/keys/${made.id}`)).status).toBe(404);
    expect((await operator.visitor.get("/account")).body.id).toBe(ownerId);
  });

  test("leaves the operator side open to the operator", async () => {
    expect((await operator.admin.get("/identity")).body).toMatchObject({ kind: "operator", name: operator.email });
  });
});

test("the tables of open and closed reads cover the console's API", () => {
  const known = new Set(reads.map(({ path }) => path));
  expect([...closed].filter((path) => !known.has(path))).toEqual([]);
});

test("beginning and end are in the operators' audit log, and in the customer's activity without name and reason", async () => {
  const view = (await begin(operator)).body;
  await end(operator);
  expect((await operator.visitor.get("/account")).body.id).toBe(operator.accountId);
  const entries = await listAudit(gateway.database, { ...everyEntry, subject: view.id }, { before: null, limit: 9 });
  expect(entries.toReversed()).toMatchObject([
    { action: "account.view_begun", accountId: ownerId, reason: "asked why the task failed" },
    { action: "account.view_ended", accountId: ownerId, after: { ending: "ended", operator: operator.userId } },
  ]);
  const { data } = (await owner.visitor.get("/activity")).body;
  expect(data.slice(0, 2)).toMatchObject([
    { action: "account.view_ended", by: "operator", subject: view.id, address: null },
    { action: "account.view_begun", by: "operator", subject: view.id, address: null },
  ]);
  const text = JSON.stringify(data);
  expect(text).not.toContain(operator.email);
  expect(text).not.toContain("asked why");
  expect((await verifyAudit(gateway.database)).fault).toBeNull();
});

test("activity shows own changes with the address, and no notes of operators, page by page", async () => {
  await operator.admin.post(`/accounts/${ownerId}/notes`, { text: "a difficult customer" });
  const seen: { id: string; action: string; by: string; address: string | null }[] = [];
  let after = "";
  for (;;) {
    const { body } = await owner.visitor.get(`/activity?limit=2${after}`);
    seen.push(...body.data);
    if (!body.has_more) break;
    after = `&after=${body.next_cursor ?? body.data.at(-1).id}`;
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  expect(seen.map(({ action }) => action)).toContain("key.created");
  expect(seen.map(({ action }) => action)).not.toContain("account.noted");
  expect(seen.find(({ action }) => action === "key.created")).toMatchObject({
    by: "person",
    address: owner.visitor.address,
  });
});

/** A view that is over fails once and closes; the operator's own account follows. */
async function expectOver(by: Operator): Promise<void> {
  const { status, body } = await by.visitor.get("/keys");
  expect([status, body.error.code]).toEqual([401, "not_signed_in"]);
  expect(by.visitor.cookies.has("sluice-view")).toBe(false);
}

async function readEnding(viewId: string): Promise<unknown[]> {
  const filter = { ...everyEntry, subject: viewId, action: "account.view_ended" };
  const entries = await listAudit(gateway.database, filter, { before: null, limit: 9 });
  return entries.map(({ actor, after }) => [actor.kind, after?.ending]);
}

/** What the job notes. */
async function sweepEnding(viewId: string): Promise<unknown[]> {
  const dueNow = { due_at: new Date(0) };
  await gateway.database.updateTable("scheduled_jobs").set(dueNow).where("name", "=", "end-account-views").execute();
  return await waitUntil("the end of the view", async () => {
    const endings = await readEnding(viewId);
    return endings.length === 0 ? null : endings;
  });
}

test("a view ends after 30 minutes, and the log notes it", async () => {
  await confirmAgain();
  const view = (await begin(operator)).body;
  clock.advance(29 * 60_000);
  expect((await operator.visitor.get("/account")).body.id).toBe(ownerId);
  clock.advance(60_001);
  await expectOver(operator);
  expect(await sweepEnding(view.id)).toEqual([["system", "expired"]]);
});

test("a view ends at once with the operator's role", async () => {
  const other = await signUpOperator(gateway, { now: () => clock.now() });
  const view = (await begin(other)).body;
  await revokeOperator(gateway.database, { userId: other.userId, acting: onHost, reason: null });
  await expectOver(other);
  expect(await sweepEnding(view.id)).toEqual([["system", "access-lost"]]);
});

test("a view ends at once with the operator's session, and does not follow into another", async () => {
  const other = await signUpOperator(gateway, { now: () => clock.now() });
  const view = (await begin(other)).body;
  await gateway.database.deleteFrom("user_sessions").where("user_id", "=", other.userId).execute();
  expect((await other.visitor.get("/account")).status).toBe(401);
  const { visitor } = await signUpVisitor(gateway);
  visitor.cookies.set("sluice-view", other.visitor.cookies.get("sluice-view") ?? "");
  const own = await visitor.get("/account");
  expect(own.status).toBe(200);
  expect(own.body.id).not.toBe(ownerId);
  expect(await sweepEnding(view.id)).toEqual([["system", "access-lost"]]);
});

test("an operator can sign out during a view, which ends both and leaves the owner signed in", async () => {
  const other = await signUpOperator(gateway, { now: () => clock.now() });
  const view = (await begin(other)).body;
  expect((await other.visitor.post("/sign-out")).status).toBe(204);
  expect((await other.visitor.get("/account")).status).toBe(401);
  expect(await sweepEnding(view.id)).toEqual([["system", "access-lost"]]);
  expect((await owner.visitor.get("/account")).status).toBe(200);
});

test("a new view ends the one before", async () => {
  await confirmAgain();
  const first = (await begin(operator)).body;
  const second = (await begin(operator, operator.accountId)).body;
  expect(await readEnding(first.id)).toEqual([["operator", "replaced"]]);
  await end(operator);
  expect(await readEnding(second.id)).toEqual([["operator", "ended"]]);
});

test("beginning needs a reason, a person and an account with people", async () => {
  await confirmAgain();
  const { body } = await operator.admin.post(`/accounts/${ownerId}/views`, { reason: " " });
  expect(body.error).toMatchObject({ code: "invalid_parameter", param: "reason" });
  const { accountId } = await gateway.createCaller();
  const noPeople = await operator.admin.post(`/accounts/${accountId}/views`, { reason: "why" });
  expect(noPeople.body.error).toMatchObject({ code: "invalid_parameter", param: "account_id" });
  const reader = await signUpOperator(gateway, { role: "reader", now: () => clock.now() });
  expect((await begin(reader)).body.error.code).toBe("operator_not_permitted");
});
