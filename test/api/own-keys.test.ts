// @module-tag slow
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createApiKey,
  issueClientKey,
  type KeyRestrictions,
  revokeApiKey,
  updateApiKey,
} from "../../src/features/accounts/index.ts";
import { bookCredit, findViolations, openHolds, releaseHold } from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano, parseMoney } from "../../src/lib/money.ts";
import { inTransaction } from "../../src/platform/database/database.ts";
import { endpointScopes } from "../../src/platform/http/endpoint-table.ts";
import {
  goodPassword,
  type SiteVisitor,
  signUpVisitor,
  visitorSettings,
  visitSite,
} from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const start = new Date("2026-01-07T12:00:00Z");

let gateway: TestGateway;
let clock: TestClock;
/** Every key that was shown, to search for where none may be. */
const shownKeys: string[] = [];

beforeAll(async () => {
  clock = createTestClock(start);
  gateway = await startGateway({ clock, settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

type Person = { visitor: SiteVisitor; accountId: AccountId };

async function signUp(): Promise<Person> {
  const { visitor } = await signUpVisitor(gateway);
  return { visitor, accountId: (await visitor.get("/session")).body.account.id };
}

async function create(visitor: SiteVisitor, body: object = {}) {
  const answer = await visitor.post("/keys", { name: "backend", ...body });
  expect(answer).toMatchObject({ status: 201 });
  shownKeys.push(answer.body.key);
  return answer.body;
}

async function rotate(visitor: SiteVisitor, id: string, body: object = {}) {
  const answer = await visitor.post(`/keys/${id}/rotate`, body);
  expect(answer).toMatchObject({ status: 201 });
  shownKeys.push(answer.body.key);
  return answer.body;
}

async function call(key: string, path = "/models"): Promise<string> {
  const response = await gateway.get(path, key);
  const body = (await response.json()) as { error?: { code: string } };
  return body.error?.code ?? "ok";
}

async function chat(key: string): Promise<string> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 5 }),
  });
  const body = (await response.json()) as { usage?: { charge: string }; error?: { code: string } };
  return body.usage?.charge ?? body.error?.code ?? "";
}

function at(offsetMs: number): string {
  return new Date(clock.now().getTime() + offsetMs).toISOString();
}

const unlimited = {
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  tasks_in_flight: null,
};

describe("a new key", () => {
  test("works, is shown once and is listed by its last characters only", async () => {
    const { visitor } = await signUp();
    const answer = await visitor.post("/keys", { name: "  backend " });
    const { key, ...shown } = answer.body;
    shownKeys.push(key);
    expect(answer.status).toBe(201);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(key).toMatch(/^sk-slc-[0-9A-Za-z]{36}$/);
    expect(shown).toEqual({
      object: "api_key",
      id: expect.stringMatching(/^key_/),
      name: "backend",
      kind: "secret",
      preview: `sk-slc-…${key.slice(-4)}`,
      created: start.getTime() / 1000,
      last_used: null,
      expires_at: null,
      revoked_at: null,
      models: null,
      endpoints: null,
      addresses: null,
      budget: null,
      limits: unlimited,
      content_log: false,
    });
    expect((await visitor.get("/keys")).body).toEqual({
      object: "list",
      data: [shown],
      has_more: false,
      next_cursor: null,
    });
    expect((await visitor.get(`/keys/${shown.id}`)).body).toEqual(shown);
    expect(await call(key)).toBe("ok");
    await waitUntil("the use", async () => (await visitor.get(`/keys/${shown.id}`)).body.last_used !== null);
    expect((await visitor.get("/keys")).body.data[0].last_used).toBe(start.getTime() / 1000);
  });

  test("can do what its scopes allow, and nothing else", async () => {
    const { visitor } = await signUp();
    const restrictions = {
      expires_at: at(dayMs),
      models: ["sandbox-chat"],
      endpoints: ["models"],
      addresses: ["127.0.0.0/8"],
      budget: { amount: "12.5", period: "month" },
      limits: { requests_per_minute: 5, tasks_in_flight: 2, tokens_per_minute: null },
    };
    const made = await create(visitor, restrictions);
    expect(made).toMatchObject({
      ...restrictions,
      budget: { amount: "12.50", period: "month", spent: "0.00", resets_at: "2026-02-01T00:00:00.000Z" },
      limits: { ...unlimited, requests_per_minute: 5, tasks_in_flight: 2 },
    });
    expect([await call(made.key), await call(made.key, "/balance")]).toEqual(["ok", "key_not_permitted"]);
    const list = (await (await gateway.get("/models", made.key)).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(["sandbox-chat"]);
    const elsewhere = await create(visitor, { addresses: ["192.0.2.1"] });
    expect(await call(elsewhere.key)).toBe("key_not_permitted");
  });

  test("shows the spent part of its budget, and when the budget resets", async () => {
    const { visitor, accountId } = await signUp();
    const booking = { kind: "top-up", amount: nano(5_000_000_000n) } as const;
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    const periods = ["total", "day", "week", "month"] as const;
    const ends = [null, "2026-01-08T00:00:00.000Z", "2026-01-12T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
    for (const [index, period] of periods.entries()) {
      const { id, key } = await create(visitor, { budget: { amount: "1", period } });
      const charge = await chat(key);
      expect(charge).toMatch(/[1-9]/);
      expect((await visitor.get(`/keys/${id}`)).body.budget).toEqual({
        amount: "1.00",
        period,
        spent: charge,
        resets_at: ends[index],
      });
    }
  });

  test("needs a reauthentication at most ten minutes old, and so does a rotation", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor);
    clock.advance(10 * minuteMs);
    const refusals = [await visitor.post("/keys", { name: "late" }), await visitor.post(`/keys/${id}/rotate`)];
    for (const refused of refusals) {
      expect(refused).toMatchObject({ status: 403, body: { error: { code: "reauthentication_required" } } });
    }
    expect((await visitor.get("/keys")).body.data).toHaveLength(1);
    await visitor.post("/reauthenticate", { password: goodPassword });
    await create(visitor);
    await rotate(visitor, id);
  });

  test("is rejected with the field at fault and the allowed values", async () => {
    const { visitor } = await signUp();
    const refusals: [string, object][] = [
      ["name", { name: " " }],
      ["name", { name: "x".repeat(101) }],
      ["name", { name: "two\nlines" }],
      ["name", { name: "nothing\u0000" }],
      ["name", { name: "BA:tool" }],
      ["expires_at", { expires_at: "tomorrow" }],
      ["expires_at", { expires_at: "2026-02-30T00:00:00Z" }],
      ["expires_at", { expires_at: at(0) }],
      ["models[1]", { models: ["sandbox-chat", "no-such-model"] }],
      ["models", { models: [] }],
      ["models[0]", { models: [7] }],
      ["endpoints[0]", { endpoints: ["everything"] }],
      ["addresses[0]", { addresses: ["example.com"] }],
      ["budget.amount", { budget: { amount: "-1", period: "day" } }],
      ["budget.amount", { budget: { amount: "1e3", period: "day" } }],
      ["budget.period", { budget: { amount: "1", period: "year" } }],
      ["budget.period", { budget: { amount: "1" } }],
      ["limits.requests_per_minute", { limits: { requests_per_minute: 0 } }],
      ["limits.tasks_in_flight", { limits: { tasks_in_flight: 1.5 } }],
      ["limits.speed", { limits: { speed: 5 } }],
      ["color", { color: "red" }],
    ];
    const answers = await Promise.all(refusals.map(([, body]) => visitor.post("/keys", { name: "refused", ...body })));
    expect(answers.map(({ status, body }) => [status, body.error.param])).toEqual(
      refusals.map(([param]) => [400, param]),
    );
    expect(answers[11]?.body.error.message).toContain(endpointScopes.join(", "));
    expect((await visitor.post("/keys", {})).body.error).toMatchObject({ code: "missing_parameter", param: "name" });
    expect((await visitor.get("/keys")).body.data).toEqual([]);
  });
});

describe("a list of keys", () => {
  test("is newest first, in pages, and can be filtered by live and ended keys", async () => {
    const { visitor } = await signUp();
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.unshift((await create(visitor, count === 0 ? { expires_at: at(minuteMs) } : {})).id);
      clock.advance(1);
    }
    const list = async (query: string) => {
      const { body } = await visitor.get(`/keys?${query}`);
      return { ids: body.data.map(({ id }: { id: string }) => id), next: body.next_cursor, hasMore: body.has_more };
    };
    expect(await list("limit=2")).toEqual({ ids: made.slice(0, 2), next: made[1], hasMore: true });
    expect(await list(`limit=3&after=${made[1]}`)).toEqual({ ids: made.slice(2), next: null, hasMore: false });
    await visitor.delete(`/keys/${made[1]}`);
    clock.advance(minuteMs);
    expect((await list("status=live")).ids).toEqual([made[0], made[2], made[3]]);
    expect((await list("status=ended")).ids).toEqual([made[1], made[4]]);
    for (const query of ["limit=0", "limit=101", "after=acct_1", "status=all", "page=2"]) {
      expect((await visitor.get(`/keys?${query}`)).status).toBe(400);
    }
  });

  test("labels the keys of the console and of connected programs", async () => {
    const { visitor, accountId } = await signUp();
    await visitor.get("/balance");
    clock.advance(1);
    await issueClientKey(
      gateway.database,
      { ...gateway.parts, randomBytes },
      { accountId, client: "tool", expiresAt: null, budget: null },
    );
    const { data } = (await visitor.get("/keys")).body;
    expect(data.map(({ name, kind, preview }: Record<string, string>) => [name, kind, preview])).toEqual([
      ["BA:tool", "client", expect.stringMatching(/^sk-slc-…\w{4}$/)],
      ["Console", "console", null],
    ]);
  });
});

describe("a change of a key", () => {
  test("applies to the named fields only, and takes effect with the next calls", async () => {
    const { visitor } = await signUp();
    const { id, key } = await create(visitor, {
      endpoints: ["models"],
      budget: { amount: "1", period: "day" },
      limits: { requests_per_minute: 10, tasks_in_flight: 3 },
    });
    const renamed = await visitor.patch(`/keys/${id}`, { name: "worker" });
    expect(renamed).toMatchObject({
      status: 200,
      body: { name: "worker", endpoints: ["models"], budget: { amount: "1.00" }, limits: { tasks_in_flight: 3 } },
    });
    expect(renamed.body).not.toHaveProperty("key");
    await visitor.patch(`/keys/${id}`, { limits: { tasks_in_flight: null, tokens_per_minute: 7 } });
    await visitor.patch(`/keys/${id}`, { budget: null });
    const changed = await visitor.patch(`/keys/${id}`, { endpoints: ["balance"], expires_at: at(dayMs) });
    expect(changed.body).toMatchObject({
      name: "worker",
      endpoints: ["balance"],
      expires_at: at(dayMs),
      budget: null,
      limits: { ...unlimited, requests_per_minute: 10, tokens_per_minute: 7 },
    });
    await waitUntil("the change", async () => (await call(key)) === "key_not_permitted");
    expect(await call(key, "/balance")).toBe("ok");
  });

  test("is rejected as a whole when a part of it is invalid", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor);
    const before = (await visitor.get(`/keys/${id}`)).body;
    const refused = await visitor.patch(`/keys/${id}`, { name: "other", models: ["sandbox-chat", "nothing"] });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: "models[1]" } } });
    expect((await visitor.patch(`/keys/${id}`, {})).status).toBe(400);
    expect((await visitor.get(`/keys/${id}`)).body).toEqual(before);
  });

  test("that adds permissions needs reauthentication; one that removes some, or renames it, does not", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor, {
      models: ["sandbox-chat"],
      endpoints: ["models", "balance"],
      addresses: ["10.0.0.0/8", "127.0.0.1"],
      budget: { amount: "5", period: "day" },
      limits: { requests_per_minute: 10 },
      expires_at: at(2 * dayMs),
    });
    clock.advance(10 * minuteMs);
    const change = (body: object) => visitor.patch(`/keys/${id}`, body);
    for (const wider of [
      { models: null },
      { models: ["sandbox-chat", "sandbox-image"] },
      { endpoints: ["models", "chat"] },
      { addresses: ["10.0.0.0/7"] },
      { budget: null },
      { budget: { amount: "5.01", period: "day" } },
      { budget: { amount: "1", period: "week" } },
      { limits: { requests_per_minute: null } },
      { limits: { requests_per_minute: 11 } },
      { expires_at: null },
      { expires_at: at(3 * dayMs) },
      { name: "hidden among others", endpoints: ["models"], limits: { requests_per_minute: 11 } },
      { content_log: true },
    ]) {
      const answer = await change(wider);
      expect([wider, answer.body.error?.code]).toEqual([wider, "reauthentication_required"]);
    }
    for (const narrower of [
      { name: "worker" },
      { endpoints: ["models"] },
      { addresses: ["10.1.2.3", "127.0.0.1"] },
      { budget: { amount: "4", period: "day" } },
      { limits: { requests_per_minute: 9, tokens_per_minute: 100 } },
      { expires_at: at(dayMs) },
      { content_log: false },
    ]) {
      expect([narrower, (await change(narrower)).status]).toEqual([narrower, 200]);
    }
    await visitor.post("/reauthenticate", { password: goodPassword });
    expect(await change({ models: null, budget: null })).toMatchObject({ status: 200, body: { name: "worker" } });
  });

  test("of the content log is inherited by the keys that replace it", async () => {
    const { visitor } = await signUp();
    const made = await create(visitor, { content_log: true });
    expect(made.content_log).toBe(true);
    expect((await rotate(visitor, made.id)).content_log).toBe(true);
    const { id } = await create(visitor);
    expect((await visitor.patch(`/keys/${id}`, { content_log: true })).body.content_log).toBe(true);
    expect((await visitor.patch(`/keys/${id}`, { content_log: false })).body.content_log).toBe(false);
  });

  test("of the content log is rejected where the service stores no contents", async () => {
    await using strict = await startGateway({ clock, settings: { ...visitorSettings, content_log_days: 0 } });
    const { visitor } = await signUpVisitor(strict);
    const refusal = { status: 400, body: { error: { code: "invalid_parameter", param: "content_log" } } };
    expect(await visitor.post("/keys", { name: "backend", content_log: true })).toMatchObject(refusal);
    const made = await visitor.post("/keys", { name: "backend", content_log: false });
    expect(made).toMatchObject({ status: 201, body: { content_log: false } });
    expect(await visitor.patch(`/keys/${made.body.id}`, { content_log: true })).toMatchObject(refusal);
    expect((await visitor.get("/site")).body.content_log_days).toBe(0);
  });

  test("is accepted from this site's own pages and as JSON only", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor);
    const foreign = await visitor.patch(`/keys/${id}`, { name: "x" }, { origin: "https://evil.example" });
    expect(foreign).toMatchObject({ status: 403, body: { error: { code: "cross_site_request" } } });
    const form = await visitor.patch(`/keys/${id}`, { name: "x" }, { "content-type": "text/plain" });
    expect(form.status).toBe(415);
    // CSRF protection comes before authentication: a request that any site's form could send is rejected.
    const anonymous = await visitSite(gateway).patch(`/keys/${id}`, { name: "x" }, { "content-type": "text/plain" });
    expect(anonymous.status).toBe(415);
    expect((await visitor.get(`/keys/${id}`)).body.name).toBe("backend");
  });
});

describe("a rotation", () => {
  const restrictions = {
    models: ["sandbox-chat"],
    endpoints: ["models", "balance"],
    addresses: ["127.0.0.1"],
    budget: { amount: "3.00", period: "week" },
    limits: { requests_per_minute: 50, tokens_per_minute: 60, concurrent_requests: 7, tasks_in_flight: 8 },
  };

  test("creates a new key with the same name and restrictions, and revokes the old one at once", async () => {
    const { visitor } = await signUp();
    const old = await create(visitor, { ...restrictions, expires_at: at(dayMs) });
    expect(await call(old.key)).toBe("ok");
    const rotated = await rotate(visitor, old.id);
    const { key: _old, id: _oldId, preview: _oldPreview, ...before } = old;
    const { key: _new, id: _newId, preview: _newPreview, ...after } = rotated;
    expect(after).toEqual(before);
    expect(rotated.id).not.toBe(old.id);
    expect(await call(rotated.key)).toBe("ok");
    await waitUntil("the end of the old key", async () => (await call(old.key)) === "revoked_api_key");
    expect((await visitor.get(`/keys/${old.id}`)).body.revoked_at).toBe(clock.now().toISOString());
  });

  test("with an overlap keeps both working until it ends", async () => {
    const { visitor } = await signUp();
    const old = await create(visitor);
    const rotated = await rotate(visitor, old.id, { overlap_minutes: 5 });
    expect(rotated.expires_at).toBeNull();
    expect((await visitor.get(`/keys/${old.id}`)).body).toMatchObject({
      revoked_at: null,
      expires_at: at(5 * minuteMs),
    });
    clock.advance(5 * minuteMs - 1);
    expect([await call(old.key), await call(rotated.key)]).toEqual(["ok", "ok"]);
    clock.advance(1);
    expect([await call(old.key), await call(rotated.key)]).toEqual(["expired_api_key", "ok"]);
  });

  test("never extends the old key's lifetime", async () => {
    const { visitor } = await signUp();
    const old = await create(visitor, { expires_at: at(minuteMs) });
    const rotated = await rotate(visitor, old.id, { overlap_minutes: 1440 });
    expect((await visitor.get(`/keys/${old.id}`)).body.expires_at).toBe(old.expires_at);
    expect(rotated.expires_at).toBe(old.expires_at);
  });

  test("works although a model has been removed since, and two at once create one new key", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor);
    await updateApiKey({ ...gateway.parts, hasModel: () => true }, id, { modelIds: ["gone"] });
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post(`/keys/${id}/rotate`)));
    for (const { body } of answers) if (body.key !== undefined) shownKeys.push(body.key);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
    expect((await visitor.get("/keys?status=live")).body.data).toMatchObject([{ models: ["gone"] }]);
  });

  test.each([[-1], [1441], [1.5], ["5"]])("with an overlap of %j is rejected", async (overlap_minutes) => {
    const { visitor } = await signUp();
    const { id } = await create(visitor);
    const refused = await visitor.post(`/keys/${id}/rotate`, { overlap_minutes });
    expect(refused).toMatchObject({ status: 400, body: { error: { param: "overlap_minutes" } } });
  });
});

describe("a cap", () => {
  const budget = (amount: string) => ({ amount, period: "week" }) as const;

  async function signUpWithMoney(): Promise<Person> {
    const person = await signUp();
    const request = { accountId: person.accountId, actor: "test", reason: "test", reference: null } as const;
    await bookCredit(gateway.parts, { ...request, booking: { kind: "top-up", amount: nano(10_000_000_000n) } });
    return person;
  }

  /** Places a hold as a call with the key does, in its budget. */
  async function hold(accountId: AccountId, key: { id: string; lineageId: string; amount: bigint }) {
    const id = gateway.parts.ids.next("hold");
    const request = {
      id,
      accountId,
      amount: nano(key.amount),
      quota: null,
      keyId: key.id,
      budget: { amount: nano(1_000_000_000n), period: "week" as const, keyId: key.lineageId },
      cause: { kind: "request" as const, id: "req_test" },
      expiresAt: new Date(clock.now().getTime() + minuteMs),
    };
    const [result] = await inTransaction(gateway.database, (tx) => openHolds(tx, [request], clock.now()));
    return { kind: result?.kind, id };
  }

  test("on a key's spending outlives any number of rotations, and both keys share it in an overlap", async () => {
    const { visitor } = await signUpWithMoney();
    const first = await create(visitor, { budget: budget("1") });
    const charge = await chat(first.key);
    const second = await rotate(visitor, first.id, { overlap_minutes: 60 });
    expect(second.budget).toMatchObject({ amount: "1.00", spent: charge });
    await visitor.patch(`/keys/${second.id}`, { budget: budget(charge) });
    // The new key shares its limit with the old one, which would otherwise bypass it until its end.
    await waitUntil("the smaller budget", async () => (await chat(second.key)) === "key_budget_exceeded");
    await waitUntil("the end of both", async () => (await chat(first.key)) === "key_budget_exceeded");
    const third = await rotate(visitor, second.id);
    expect(await chat(third.key)).toBe("key_budget_exceeded");
    expect(third.budget.spent).toBe(charge);
    expect(await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() })).toEqual([]);
  });

  test("counts holds of the older key's calls, also when another process ends them", async () => {
    const { visitor, accountId } = await signUpWithMoney();
    const first = await create(visitor, { budget: budget("1") });
    const second = await rotate(visitor, first.id);
    const lineageId = first.id;
    const running = await hold(accountId, { id: second.id, lineageId, amount: 900_000_000n });
    expect(running.kind).toBe("held");
    const third = await rotate(visitor, second.id);
    expect((await hold(accountId, { id: third.id, lineageId, amount: 200_000_000n })).kind).toBe("refused");
    await inTransaction(gateway.database, (tx) => releaseHold(tx, { accountId, holdId: running.id }, clock.now()));
    expect((await hold(accountId, { id: third.id, lineageId, amount: 200_000_000n })).kind).toBe("held");
    expect(await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() })).toEqual([]);
  });

  test("on a key's rate is not reset by a rotation", async () => {
    const { visitor } = await signUp();
    const first = await create(visitor, { limits: { requests_per_minute: 1 } });
    // Reads have five times the limit.
    for (const _read of [1, 2, 3, 4, 5]) expect(await call(first.key)).toBe("ok");
    expect(await call(first.key)).toBe("rate_limit_exceeded");
    const second = await rotate(visitor, first.id);
    expect(await call(second.key)).toBe("rate_limit_exceeded");
  });

  test("on a program's key stays when the program connects again, disconnected or not", async () => {
    const { accountId } = await signUpWithMoney();
    const issue = (terms: Pick<KeyRestrictions, "budget">) =>
      inTransaction(gateway.database, (tx) =>
        issueClientKey(tx, { ...gateway.parts, randomBytes }, { accountId, client: "tool", expiresAt: null, ...terms }),
      );
    const first = await issue({ budget: { amount: nano(1_000_000_000n), period: "total" } });
    const charge = parseMoney(await chat(first.text)) ?? nano(0n);
    await updateApiKey({ ...gateway.parts, hasModel: () => true }, first.apiKey.id, {
      budget: { amount: charge, period: "total" },
      modelIds: ["sandbox-chat"],
    });
    await revokeApiKey(gateway.parts, first.apiKey.id);
    const second = await issue({ budget: null });
    expect(second.apiKey).toMatchObject({ budget: { amount: charge, period: "total" }, modelIds: ["sandbox-chat"] });
    expect(await chat(second.text)).toBe("key_budget_exceeded");
    const third = await issue({ budget: { amount: nano(charge * 2n), period: "total" } });
    shownKeys.push(first.text, second.text, third.text);
    expect(third.apiKey.budget?.amount).toBe(charge * 2n);
  });
});

describe("ended keys stay ended", () => {
  test("a revoked key never works again, and can be neither changed nor rotated", async () => {
    const { visitor } = await signUp();
    const { id, key } = await create(visitor);
    expect(await call(key)).toBe("ok");
    const revoked = await visitor.delete(`/keys/${id}`);
    expect(revoked).toMatchObject({ status: 200, body: { id, revoked_at: clock.now().toISOString() } });
    await waitUntil("the end", async () => (await call(key)) === "revoked_api_key");
    clock.advance(1000);
    expect((await visitor.delete(`/keys/${id}`)).body.revoked_at).toBe(revoked.body.revoked_at);
    for (const answer of [
      await visitor.patch(`/keys/${id}`, { name: "x" }),
      await visitor.post(`/keys/${id}/rotate`),
    ]) {
      expect(answer.body.error.message).toBe("The key was revoked. Create a new one.");
      expect(answer.status).toBe(400);
    }
  });

  test("an expired key cannot be rotated", async () => {
    const { visitor } = await signUp();
    const { id } = await create(visitor, { expires_at: at(1) });
    clock.advance(1);
    const refused = await visitor.post(`/keys/${id}/rotate`);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: "The key has expired. Create a new one." } },
    });
  });
});

test("a connected program's key cannot be renamed or rotated here, but can be limited and revoked", async () => {
  const { visitor, accountId } = await signUp();
  const { apiKey } = await issueClientKey(
    gateway.database,
    { ...gateway.parts, randomBytes },
    {
      accountId,
      client: "tool",
      expiresAt: null,
      budget: null,
    },
  );
  const { id } = apiKey;
  expect((await visitor.patch(`/keys/${id}`, { name: "mine" })).body.error.param).toBe("name");
  expect((await visitor.post(`/keys/${id}/rotate`)).body.error.message).toContain("Connect the program again");
  const limited = await visitor.patch(`/keys/${id}`, { budget: { amount: "1", period: "day" } });
  expect(limited).toMatchObject({ status: 200, body: { kind: "client", budget: { amount: "1.00" } } });
  expect((await visitor.delete(`/keys/${id}`)).body.revoked_at).not.toBeNull();
});

test("the console's own key can have a budget and limits, and accepts no other change", async () => {
  const { visitor } = await signUp();
  await visitor.get("/balance");
  const [{ id }] = (await visitor.get("/keys")).body.data;
  const refusals: [string, object][] = [
    ["name", { name: "Mine" }],
    ["expires_at", { expires_at: at(dayMs) }],
    ["models", { models: ["sandbox-chat"] }],
    ["endpoints", { endpoints: ["models"] }],
    ["addresses", { addresses: ["10.0.0.0/8"] }],
  ];
  for (const [param, change] of refusals) {
    expect(await visitor.patch(`/keys/${id}`, change)).toMatchObject({ status: 400, body: { error: { param } } });
  }
  expect((await visitor.post(`/keys/${id}/rotate`)).status).toBe(400);
  expect((await visitor.delete(`/keys/${id}`)).status).toBe(400);
  await expect(revokeApiKey(gateway.parts, id)).rejects.toMatchObject({ code: "invalid_parameter" });
  const change = { budget: { amount: "0", period: "day" }, limits: { requests_per_minute: 5 } };
  expect(await visitor.patch(`/keys/${id}`, change)).toMatchObject({ status: 200, body: { kind: "console" } });
  expect((await visitor.get("/balance")).status).toBe(200);
});

test("at most a hundred keys are live, however many are created at once; an ended one makes room", async () => {
  const { visitor, accountId } = await signUp();
  for (let count = 0; count < 97; count += 1) {
    await createApiKey({ ...gateway.parts, randomBytes }, { accountId, name: `key ${count}` });
  }
  const answers = await Promise.all(Array.from({ length: 8 }, () => visitor.post("/keys", { name: "more" })));
  for (const { body } of answers) if (body.key !== undefined) shownKeys.push(body.key);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  const refused = answers.find(({ status }) => status !== 201);
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("can have 100 active keys") } },
  });
  const { id } = (await visitor.get("/keys")).body.data[0];
  expect((await visitor.post(`/keys/${id}/rotate`, { overlap_minutes: 1 })).status).toBe(400);
  expect((await visitor.get(`/keys/${id}`)).body).toMatchObject({ revoked_at: null, expires_at: null });
  await rotate(visitor, id);
  const { data } = (await visitor.get("/keys?limit=1&status=live")).body;
  await visitor.delete(`/keys/${data[0].id}`);
  await create(visitor);
});

test("creating keys is rate-limited", async () => {
  const { visitor } = await signUp();
  const { body: first } = await visitor.post("/keys", { name: "first" });
  shownKeys.push(first.key);
  let { id } = first;
  for (let count = 1; count < 200; count += 1) {
    ({ id } = await rotate(visitor, id));
    // Rejected attempts do not count.
    if (count % 40 === 0) await visitor.post("/keys", { name: "" });
  }
  const refused = await visitor.post(`/keys/${id}/rotate`);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("another account's key is not found: no data is returned, and nothing changes", async () => {
  const [owner, stranger] = [await signUp(), await signUp()];
  const { id, key, ...shown } = await create(owner.visitor);
  const nobodys = `key_${"0".repeat(26)}`;
  const tryAll = async (target: string) => {
    const { visitor } = stranger;
    const answers = [
      await visitor.get(`/keys/${target}`),
      await visitor.patch(`/keys/${target}`, { name: "stolen" }),
      await visitor.delete(`/keys/${target}`),
      await visitor.post(`/keys/${target}/rotate`),
    ];
    return answers.map(({ status, body }) => [status, JSON.stringify(body.error).replaceAll(target, "…")]);
  };
  const answers = await tryAll(id);
  expect(answers).toEqual(await tryAll(nobodys));
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([404]));
  expect((await stranger.visitor.get("/keys")).body.data).toEqual([]);
  expect((await stranger.visitor.get(`/keys?after=${id}`)).body.data).toEqual([]);
  expect((await owner.visitor.get(`/keys/${id}`)).body).toEqual({ id, ...shown });
  expect(await call(key)).toBe("ok");
});

test("visitors without a session can neither see nor create keys", async () => {
  const visitor = visitSite(gateway);
  const answers = [
    await visitor.get("/keys"),
    await visitor.get("/keys/key_1"),
    await visitor.post("/keys", { name: "x" }),
    await visitor.patch("/keys/key_1", { name: "x" }),
    await visitor.post("/keys/key_1/rotate"),
    await visitor.delete("/keys/key_1"),
  ];
  expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(
    answers.map(() => "401 not_signed_in"),
  );
});

test("no shown key is in any log line, later response or table", async () => {
  const { visitor } = await signUp();
  const { id, key } = await create(visitor);
  const rotated = await rotate(visitor, id, { overlap_minutes: 1 });
  const later = JSON.stringify([(await visitor.get("/keys")).body, (await visitor.get(`/keys/${id}`)).body]);
  const rows = await gateway.database.selectFrom("api_keys").select(["name", "last_four", "addresses"]).execute();
  const written = [JSON.stringify(gateway.logs), later, JSON.stringify(rows)];
  expect(shownKeys.length).toBeGreaterThan(10);
  for (const text of written) {
    for (const shown of [...shownKeys, key, rotated.key]) expect(text.includes(shown)).toBe(false);
  }
  expect(gateway.logs).toContainEqual(expect.objectContaining({ msg: "API key rotated", key_id: rotated.id }));
});
