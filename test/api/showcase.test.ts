import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createPlan, updateAccount } from "../../src/features/accounts/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { nano } from "../../src/lib/money.ts";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { startGateway } from "../harness/test-gateway.ts";
import { canary, findCanary } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

const rememberedMs = 5000;

let chat: ChatGateway;
let clock: TestClock;
let everybody: SiteVisitor;
beforeAll(async () => {
  clock = createTestClock(new Date());
  chat = await openChatGateway({ clock, settings: { ...visitorSettings, base_url: "https://ai.example.com/v1" } });
  await createPlan(chat.gateway.parts, { id: "insiders", name: "Insiders", limits: {} });
  everybody = visitSite(chat.gateway);
});
afterAll(() => chat[Symbol.asyncDispose]());

function model(id: string, more: Record<string, unknown> = {}) {
  return { id, routes: [{ provider: "open", upstream_model: `${canary}-${id}` }], ...more };
}

/** A catalog with a plan's and an account's own models and prices, and one model without a price. */
async function applyPlans(): Promise<void> {
  const rich = await chat.gateway.createCaller();
  const soon = new Date(clock.now().getTime() + 3_600_000).toISOString();
  await chat.applyCatalog(
    writeCatalogOf(chat.upstream, {
      models: [
        model("talk", { name: "Talk", description: "Talks." }),
        model("inside", { plans: ["insiders"] }),
        model("priceless"),
        model("later"),
      ],
      prices: [
        writePrice("talk", { minimum_charge: "0.01" }),
        writePrice("talk", { plan: "insiders", input_price: "0.10" }),
        writePrice("talk", { account: rich.accountId, input_price: "0.20" }),
        writePrice("inside"),
        writePrice("priceless", { account: rich.accountId }),
        writePrice("later", { effective_at: soon }),
      ],
    }),
  );
}

async function applyPair(): Promise<void> {
  await chat.applyCatalog(writeCatalogOf(chat.upstream, { models: [model("one"), model("two")] }));
}

async function readShowcase() {
  clock.advance(rememberedMs);
  return (await everybody.get("/showcase")).body;
}

async function readStatus() {
  clock.advance(rememberedMs);
  const { body } = await everybody.get("/status");
  const checks = body.checks.map(({ name, state }: { name: string; state: string }) => [name, state]);
  return { state: body.state, ...Object.fromEntries(checks) };
}

test("visitors see what a new account would: no plan's and no account's own models and prices", async () => {
  await applyPlans();
  const showcase = await readShowcase();
  expect(showcase).toEqual({
    object: "showcase",
    models: [
      {
        id: "talk",
        name: "Talk",
        type: "chat",
        description: "Talks.",
        capabilities: ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"],
        status: "available",
        prices: [
          {
            model: "talk",
            billing_type: "token",
            unit: "1K tokens",
            input_price: "1.00",
            cached_input_price: "0.50",
            output_price: "2.00",
            minimum_charge: "0.01",
          },
        ],
      },
    ],
    currency: "USD",
    status: { state: "ok", models_available: 1, models_total: 1 },
    base_url: "https://ai.example.com/v1",
    sign_up: "open",
  });
  const { visitor } = await signUpVisitor(chat.gateway);
  const own = (await visitor.get("/models")).body.data.map(({ id }: { id: string }) => id);
  expect(own).toEqual(showcase.models.map(({ id }: { id: string }) => id));
  expect((await visitor.get("/showcase")).body).toEqual(showcase);
});

test("a key can be limited to a model of its own plan, and not to one of another plan", async () => {
  await applyPlans();
  const [insider, outsider] = [await signUpVisitor(chat.gateway), await signUpVisitor(chat.gateway)];
  const { account } = (await insider.visitor.get("/session")).body;
  await updateAccount(chat.gateway.parts, account.id, { planId: "insiders" });
  const ask = (visitor: SiteVisitor, id: string) => visitor.post("/keys", { name: "x", models: [id] });
  expect((await ask(insider.visitor, "inside")).status).toBe(201);
  const [hidden, absent] = [await ask(outsider.visitor, "inside"), await ask(outsider.visitor, "nothing")];
  expect(hidden.body.error).toEqual({ ...absent.body.error, message: "There is no model inside." });
  expect(hidden.status).toBe(400);
});

test("the showcase is cached for five seconds, however many clients read it", async () => {
  await applyPlans();
  const before = await readShowcase();
  await applyPair();
  clock.advance(rememberedMs - 1);
  const answers = await Promise.all(Array.from({ length: 20 }, () => everybody.get("/showcase")));
  for (const { body } of answers) expect(body).toEqual(before);
  clock.advance(1);
  expect((await everybody.get("/showcase")).body.status).toEqual({ state: "ok", models_available: 2, models_total: 2 });
});

test("the status is degraded without some models, down without all, and names no upstream", async () => {
  await applyPair();
  const caller = await chat.createCaller({ cash: "1000" });
  const breakDown = async (id: string) => {
    const busy = { status: 429, headers: { "retry-after": "60" } };
    chat.upstream.scriptFor({ model: `${canary}-${id}` }, busy);
    const response = await caller.post({ model: id, messages: [{ role: "user", content: "Hi" }] });
    expect(response.status).toBe(503);
    await response.text();
  };
  expect(await readStatus()).toEqual({ state: "ok", api: "ok", database: "ok", workers: "ok", chat: "ok" });
  await breakDown("one");
  expect(await readStatus()).toMatchObject({ state: "degraded", chat: "degraded", api: "ok" });
  expect(await readShowcase()).toMatchObject({
    models: [{ id: "one", status: "unavailable" }, { id: "two" }],
    status: { state: "degraded", models_available: 1, models_total: 2 },
  });
  await breakDown("two");
  expect(await readStatus()).toMatchObject({ state: "down", chat: "down", api: "ok" });
  expect((await readShowcase()).status).toEqual({ state: "down", models_available: 0, models_total: 2 });
  clock.advance(rememberedMs);
  const seen = [await everybody.get("/showcase"), await everybody.get("/status")];
  for (const { body, headers } of seen) {
    const text = JSON.stringify(body) + JSON.stringify([...headers]);
    expect(findCanary(text)).toBeNull();
    expect(text).not.toContain(new URL(chat.upstream.url).host);
  }
});

test("a service without workers or without its database reports it, and recovers when they are back", async () => {
  const testDatabase = await createTestDatabase();
  const ownClock = createTestClock(new Date());
  const gateway = await startGateway({ clock: ownClock, sharedDatabase: testDatabase, settings: { roles: ["http"] } });
  const visitor = visitSite(gateway);
  const read = async () => {
    ownClock.advance(rememberedMs);
    const { status, body } = await visitor.get("/status");
    expect(status).toBe(200);
    const stateOf = (name: string) => body.checks.find((check: { name: string }) => check.name === name)?.state;
    return { state: body.state, database: stateOf("database"), workers: stateOf("workers"), image: stateOf("image") };
  };
  await using administrator = await openAdministrator();
  const name = new URL(testDatabase.url).pathname.slice(1);
  try {
    const well = { state: "ok", database: "ok", workers: "ok", image: "ok" };
    expect(await read()).toEqual(well);
    const { key, accountId } = await gateway.createCaller();
    const booking = { kind: "top-up", amount: nano(1_000_000_000n) } as const;
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    const submitted = await fetch(`${gateway.baseUrl}/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-image", prompt: "A lock" }),
    });
    expect(submitted.status).toBe(202);
    // It was due long before, and may still be in progress.
    ownClock.advance(40_000);
    expect(await read()).toEqual(well);
    ownClock.advance(60_000);
    expect(await read()).toEqual({ ...well, state: "degraded", workers: "degraded" });
    await administrator.run(`alter database ${name} allow_connections false`);
    await administrator.run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    expect(await read()).toMatchObject({ state: "down", database: "down", workers: "down" });
    await administrator.run(`alter database ${name} allow_connections true`);
    await waitUntil("the database to be back", async () => (await read()).database === "ok");
  } finally {
    await gateway[Symbol.asyncDispose]();
    await testDatabase.close();
  }
});

async function openAdministrator() {
  const client = new pg.Client({ ...inject("databaseServer"), database: "postgres" });
  await client.connect();
  return { run: (statement: string) => client.query(statement), [Symbol.asyncDispose]: () => client.end() };
}
