// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AdminEndpointName,
  adminEndpointNames,
  adminScopes,
  getAdminEndpoint,
  grantOperator,
  revokeOperator,
} from "../../src/features/admin/index.ts";
import {
  type AdminClient,
  makeAdminKey,
  type Operator,
  onHost,
  openAdmin,
  openWithKey,
  signUpOperator,
} from "../harness/admin/admin-visitor.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { goodPassword, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

type Route = { method: string; path: string; name: AdminEndpointName };

/** Of nothing that exists: who may call is decided first. */
const ids: Record<string, string> = {
  account_id: "acct_01kh2n8v7m3q5x9d4c6b8a0e2f",
  key_id: "key_01kh2n8v7m3q5x9d4c6b8a0e2f",
  user_id: "user_01kh2n8v7m3q5x9d4c6b8a0e2f",
  alarm_id: "alarm_01kh2n8v7m3q5x9d4c6b8a0e2f",
  incident_id: "inc_01kh2n8v7m3q5x9d4c6b8a0e2f",
  rule: "tasks-due",
};

const routes = readRoutes();

let gateway: TestGateway;
let clock: TestClock;
let operator: Operator;
let reader: Operator;
let customer: AdminClient;

beforeAll(async () => {
  clock = createTestClock(new Date("2026-01-07T12:00:00Z"));
  gateway = await startGateway({ clock, settings: visitorSettings });
  const now = () => clock.now();
  operator = await signUpOperator(gateway, { now });
  reader = await signUpOperator(gateway, { role: "reader", now });
  customer = openAdmin(gateway, (await signUpVisitor(gateway)).visitor);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Of the document that describes every route. */
function readRoutes(): Route[] {
  const text = readFileSync(join(repositoryDir, "docs/operating/admin-openapi.json"), "utf8");
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "missing"),
      name: operationId as AdminEndpointName,
    })),
  );
}

async function call(client: AdminClient, { method, path }: Route): Promise<{ status: number; code: string | null }> {
  const sent = method === "GET" || method === "DELETE" ? { method } : { method, body: {} };
  const { status, body } = await client.send(path, sent);
  return { status, code: body?.error?.code ?? null };
}

/** What an endpoint answers to those who may not call it. */
const refusals: readonly (string | null)[] = [
  ...["operator_not_permitted", "reauthentication_required", "second_factor_required", "not_signed_in"],
];

test("every entry of the table has one route, and every route an entry", () => {
  expect(routes.map(({ name }) => name).toSorted()).toEqual([...adminEndpointNames].toSorted());
});

test("a wrong method does not show that a path exists", async () => {
  const missing = await customer.send("/no-such-path");
  for (const method of ["PUT", "DELETE", "OPTIONS", "PROPFIND"]) {
    const { status, body } = await customer.send("/accounts", { method });
    expect([status, { ...body, request_id: "" }], method).toEqual([404, { ...missing.body, request_id: "" }]);
  }
});

describe.each(routes)("$method $path", (route) => {
  const { scope, access, proof } = getAdminEndpoint(route.name);

  test("does not exist for customers and strangers", async () => {
    const missing = await customer.send("/no-such-path");
    for (const client of [customer, openWithKey(gateway, "sk-slc-something"), openAdmin(gateway, visitSite(gateway))]) {
      const sent = route.method === "GET" || route.method === "DELETE" ? {} : { body: {} };
      const { status, body } = await client.send(route.path, { method: route.method, ...sent });
      expect(status).toBe(404);
      expect({ ...body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
    }
  });

  test("permits operators, and readers only what reads", async () => {
    expect(refusals).not.toContain((await call(operator.admin, route)).code);
    const { code } = await call(reader.admin, route);
    if (access === "write") expect(code).toBe("operator_not_permitted");
    else expect(refusals).not.toContain(code);
  });

  test("permits keys within their scopes and access", async () => {
    const own = scope === null ? [] : [scope];
    const others = adminScopes.filter((known) => known !== scope);
    const [whole, reading, other] = [
      await makeAdminKey(gateway, { scopes: own }),
      await makeAdminKey(gateway, { scopes: own, access: "read" }),
      await makeAdminKey(gateway, { scopes: others }),
    ];
    const expected = proof === "person" ? "operator_not_permitted" : null;
    const { code } = await call(openWithKey(gateway, whole), route);
    if (expected === null) expect(refusals).not.toContain(code);
    else expect(code).toBe(expected);
    const { code: readingCode } = await call(openWithKey(gateway, reading), route);
    if (access === "write") expect(readingCode).toBe("operator_not_permitted");
    if (scope !== null) expect((await call(openWithKey(gateway, other), route)).code).toBe("operator_not_permitted");
  });

  if (access === "write") {
    test("rejects a browser's request from another site", async () => {
      const sent = route.method === "DELETE" ? {} : { body: {} };
      const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
      const { status, body } = await operator.admin.send(route.path, { method: route.method, ...sent, headers });
      expect([status, body.error.code]).toEqual([403, "cross_site_request"]);
    });
  }
});

test("what moves money or rights needs a proof of identity within the last ten minutes", async () => {
  clock.advance(11 * 60_000);
  for (const route of routes) {
    const { proof } = getAdminEndpoint(route.name);
    const { code } = await call(operator.admin, route);
    if (proof === undefined) expect(refusals, route.name).not.toContain(code);
    else expect(code, route.name).toBe("reauthentication_required");
  }
  await operator.confirm();
  expect(refusals).not.toContain((await operator.admin.post("/operators")).body.error.code);
});

test("an operator without a second factor gets an error that names the way out", async () => {
  const { visitor, email } = await signUpVisitor(gateway);
  await grantOperator(gateway.parts, { email, role: "operator", acting: onHost, reason: null });
  const { status, body } = await openAdmin(gateway, visitor).get("/identity");
  expect([status, body.error.code]).toEqual([403, "second_factor_required"]);
  expect((await visitor.get("/session")).body.operator).toEqual({ role: "operator", has_second_factor: false });
});

test("a session that a password alone opened has to be confirmed, also if the second factor came later", async () => {
  const now = () => clock.now();
  const person = await signUpOperator(gateway, { now });
  await gateway.database.updateTable("user_sessions").set({ is_two_step: false }).execute();
  expect((await person.admin.get("/identity")).body.error.code).toBe("reauthentication_required");
  clock.advance(60_000);
  await person.confirm();
  expect((await person.admin.get("/identity")).status).toBe(200);
  clock.advance(60_000);
  await operator.confirm();
});

test("a revoked role ends with the next request, and a signed-out operator is led to the sign-in", async () => {
  const now = () => clock.now();
  const person = await signUpOperator(gateway, { now });
  expect((await person.admin.get("/accounts")).status).toBe(200);
  await revokeOperator(gateway.database, { userId: person.userId, acting: onHost, reason: null });
  expect((await person.admin.get("/accounts")).status).toBe(404);
  expect((await person.visitor.get("/session")).body.operator).toBeNull();
  const cookies = new Map(operator.visitor.cookies);
  cookies.set("sluice-session", "A".repeat(43));
  const stale = { ...operator.visitor, cookies };
  expect((await openAdmin(gateway, stale).get("/accounts")).body.error.code).toBe("not_signed_in");
});

test("revoked, expired and unknown admin keys are told apart", async () => {
  const text = await makeAdminKey(gateway);
  const client = openWithKey(gateway, text);
  const { id } = (await client.get("/identity")).body;
  expect((await openWithKey(gateway, `${text}x`).get("/identity")).body.error.code).toBe("invalid_api_key");
  expect((await operator.admin.post(`/keys/${id}/revoke`)).status).toBe(200);
  expect((await client.get("/identity")).body.error.code).toBe("revoked_api_key");
  const expires = new Date(clock.now().getTime() + 60_000).toISOString();
  const made = await operator.admin.post("/keys", { name: "short", access: "read", expires_at: expires });
  expect(made.status).toBe(201);
  clock.advance(61_000);
  expect((await openWithKey(gateway, made.body.key).get("/identity")).body.error.code).toBe("expired_api_key");
});

test("the last operator cannot be removed from the pages", async () => {
  const database = gateway.database;
  await database.deleteFrom("operators").where("user_id", "!=", operator.userId).execute();
  const { status, body } = await operator.admin.send(`/operators/${operator.userId}`, { method: "DELETE" });
  expect([status, body.error.message]).toEqual([400, expect.stringContaining("last operator")]);
});

test("no log line, answer or audit entry has an admin key's text", async () => {
  const made = await operator.admin.post("/keys", { name: "secret", access: "read" });
  await openWithKey(gateway, made.body.key).get("/accounts");
  const listed = [await operator.admin.get("/keys"), await operator.admin.get("/audit")].map(({ body }) => body);
  expect(JSON.stringify([gateway.logs, listed])).not.toContain(made.body.key);
  expect(JSON.stringify(gateway.logs)).not.toContain(goodPassword);
});
