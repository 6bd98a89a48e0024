import { afterAll, beforeAll, expect, test } from "vitest";
import { findCatalog } from "../../src/features/catalog/index.ts";
import { type MarginKey, sumMargins } from "../../src/features/costs/index.ts";
import { simulateCatalog } from "../../src/features/simulation/index.ts";
import { presentMoney } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: ChatGateway;

/** A tenth of the price of the harness. */
const sheet = { unit: "1M tokens", input_price: "100", cached_input_price: "50", output_price: "200" };
const upstream_model = `${canary}-open`;

function writeCatalog(upstream: FakeUpstreams): string {
  const route = { provider: "open", upstream_model };
  const vector = { type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 8192 } };
  const picture = { type: "image", capabilities: ["text_to_image"], limits: { sizes: ["64x64"], max_n: 4 } };
  return writeCatalogOf(upstream, {
    models: [
      { id: "sheet", routes: [{ ...route, cost_sheet: sheet }] },
      { id: "reported", routes: [{ ...route, cost_sheet: sheet, reports_cost: true }] },
      { id: "only-reported", routes: [{ ...route, reports_cost: true }] },
      { id: "unknown", routes: [route] },
      { id: "free", routes: [{ ...route, cost_sheet: sheet }] },
      { id: "picture", ...picture, routes: [{ ...route, cost_sheet: { unit: "image", price: "0.03" } }] },
      { id: "vectors", ...vector, routes: [{ ...route, cost_sheet: { unit: "1M tokens", input_price: "10" } }] },
    ],
    prices: [
      ...["sheet", "reported", "only-reported", "unknown"].map((id) => writePrice(id)),
      writePrice("free", { input_price: "0", cached_input_price: "0", output_price: "0" }),
      { model: "picture", billing_type: "per_call", unit: "image", price: "0.05" },
      { model: "vectors", billing_type: "token", unit: "1K tokens", input_price: "1" },
    ],
  });
}

beforeAll(async () => {
  stage = await openChatGateway({ catalog: writeCatalog });
});
afterAll(() => stage[Symbol.asyncDispose]());

const usage = { inputTokens: 100, cachedInputTokens: 60, outputTokens: 10 };

async function ask(caller: ChatCaller, model: string): Promise<void> {
  const response = await caller.post({ model, messages: [{ role: "user", content: "Hi" }] });
  expect(response.status).toBe(200);
  await response.text();
  await caller.settled();
}

async function readMargin(
  { accountId }: ChatCaller,
  by: readonly MarginKey[],
  database: Database = stage.gateway.database,
) {
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const lines = await sumMargins(database, { from, to, by: new Set([...by, "account"]), limit: 100 });
  return lines
    .filter(({ account }) => account === accountId)
    .map(({ model, route, calls, unknown, revenue, cost }) => ({
      ...{ model, route, calls: Number(calls), unknown: Number(unknown) },
      ...{ revenue: presentMoney(revenue), cost: presentMoney(cost) },
    }));
}

const known = { model: null, calls: 1, unknown: 0, revenue: "0.09" };
const route = `${upstream_model}@open`;

test("a call costs what the cost sheet says, by its route", async () => {
  const caller = await stage.createCaller();
  stage.upstream.script({ usage });
  await ask(caller, "sheet");
  // (40 × 1 + 60 × 0.5 + 10 × 2) / 1000 is charged, and a tenth of it is the cost.
  expect(await readMargin(caller, ["route"])).toEqual([{ ...known, route, cost: "0.009" }]);
});

test("the cost that the vendor reports comes before the sheet's", async () => {
  const caller = await stage.createCaller();
  const tokens = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  stage.upstream.script({ vendorUsage: { ...tokens, cost: 0.0123 } });
  await ask(caller, "reported");
  stage.upstream.script({ vendorUsage: { ...tokens, cost_in_usd_ticks: 45_000_000 } });
  await ask(caller, "only-reported");
  stage.upstream.script({ vendorUsage: { ...tokens, cost: 9 } });
  await ask(caller, "sheet");
  const costs = (await readMargin(caller, ["model"])).map(({ model, cost }) => [model, cost]);
  expect(Object.fromEntries(costs)).toEqual({ reported: "0.0123", "only-reported": "0.0045", sheet: "0.012" });
});

test("work without a charge still costs, and a route without a sheet has no known cost", async () => {
  const caller = await stage.createCaller();
  stage.upstream.script({ usage }, { usage });
  await ask(caller, "free");
  await ask(caller, "unknown");
  await waitUntil("the cost to be written", async () => (await readMargin(caller, ["model"])).length === 2);
  expect(await readMargin(caller, ["model", "route"])).toEqual([
    { model: "free", route, calls: 1, unknown: 0, revenue: "0.00", cost: "0.009" },
    { model: "unknown", route: null, calls: 1, unknown: 1, revenue: "0.09", cost: "0.00" },
  ]);
});

test("embeddings cost what their sheet says", async () => {
  const caller = await stage.createCaller();
  await caller.client.embeddings.create({ model: "vectors", input: "Hi there" });
  await caller.settled();
  const [line] = await readMargin(caller, ["route"]);
  expect(Number(line?.revenue)).toBeGreaterThan(0);
  expect(Number(line?.cost)).toBeCloseTo(Number(line?.revenue) / 100, 9);
});

test("a task costs what its outputs cost", async () => {
  const caller = await stage.createCaller();
  const response = await stage.fetch(`${stage.gateway.baseUrl}/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "picture", prompt: "A lighthouse", size: "64x64", n: 2 }),
  });
  expect(response.ok).toBe(true);
  await waitUntil("the task to be charged", async () => (await readMargin(caller, ["model"])).length === 1);
  expect(await readMargin(caller, ["model", "route"])).toEqual([
    { model: "picture", route, calls: 1, unknown: 0, revenue: "0.10", cost: "0.06" },
  ]);
});

test("a simulation bills what was charged, unless the draft has other prices", async () => {
  const { database } = stage.gateway;
  const caller = await stage.createCaller({ cash: "100" });
  stage.upstream.script({ usage }, { usage: { inputTokens: 3, outputTokens: 7 } });
  await ask(caller, "sheet");
  await ask(caller, "unknown");
  await caller.client.embeddings.create({ model: "vectors", input: "Hi there" });
  await caller.settled();
  const catalog = await findCatalog(database);
  if (catalog === null) throw new Error("there is no catalog");
  const now = new Date();
  const asked = { since: new Date(now.getTime() - 3_600_000), now, planIds: new Map() };
  const same = await simulateCatalog(database, catalog, asked);
  expect(same.calls).toBeGreaterThanOrEqual(3);
  expect(same.kept).toBe(0);
  expect(same.simulated).toBe(same.billed);
  const multipliers = [{ account: caller.accountId, factor: "2", model: "sheet" }];
  const dearer = await simulateCatalog(database, { ...catalog, multipliers }, asked);
  expect(dearer.simulated - dearer.billed).toBe(90_000_000n);
  expect([...dearer.accounts].filter(([, { billed, simulated }]) => billed !== simulated)).toEqual([
    [caller.accountId, expect.objectContaining({ calls: 3, cost: expect.any(BigInt) })],
  ]);
  // Without the model there is no price, so its charges stay as they are.
  const models = catalog.models.filter(({ id }) => id !== "unknown");
  const smaller = await simulateCatalog(database, { ...catalog, models }, asked);
  expect(smaller.kept).toBeGreaterThan(0);
  expect(smaller.simulated).toBe(smaller.billed);
});

test("charges with several costs count once, for their first route, and each route has its own cost", async () => {
  const caller = await stage.createCaller();
  // Rolled back: there are no such charges.
  const tx = await stage.gateway.database.startTransaction().execute();
  const row = {
    account_id: caller.accountId,
    key_id: null,
    unit: "money",
    slot_at: new Date(),
    price_id: "price_of_two",
  };
  await tx
    .insertInto("usage_rollups")
    .values([
      { ...row, item_names: ["scripts", "cost:b@two", "cost:a@one"], quantities: [1n, 20n, 3n], calls: 2n, paid: 900n },
      { ...row, item_names: ["scripts"], quantities: [1n], calls: 5n, paid: 100n },
      { ...row, unit: "images", item_names: ["cost:b@two"], quantities: [4n], calls: 1n, paid: 7n },
    ])
    .execute();
  const line = (route: string | null, calls: number, revenue: string, cost: string) => ({
    ...{ model: null, route, calls, unknown: route === null ? calls : 0, revenue, cost },
  });
  expect(await readMargin(caller, ["route"], tx)).toEqual([
    line("a@one", 0, "0.00", "0.000000003"),
    line(null, 5, "0.0000001", "0.00"),
    line("b@two", 3, "0.0000009", "0.000000024"),
  ]);
  await tx.rollback().execute();
});

test("customers see nothing of a cost", async () => {
  const caller = await stage.createCaller();
  stage.upstream.script({ vendorUsage: { prompt_tokens: 100, completion_tokens: 10, cost: 0.000777 } });
  await ask(caller, "reported");
  const [hold] = await caller.listHolds();
  const pages = [
    "/charges",
    `/charges/txn_${hold?.id.slice(5)}`,
    "/usage?group_by=model",
    "/ledger",
    "/holds",
    "/requests",
  ];
  const seen: string[] = [];
  for (const accept of ["application/json", "text/csv"]) {
    for (const page of pages) {
      const headers = { authorization: `Bearer ${caller.key}`, accept };
      const response = await stage.fetch(`${stage.gateway.baseUrl}${page}`, { headers });
      seen.push(`${response.status} ${await response.text()}`);
    }
  }
  // The harness also searches all of it for the upstream's name.
  expect(seen.map((page) => page.slice(0, 3))).toEqual(seen.map(() => "200"));
  expect(seen.join("\n")).not.toMatch(/000777|777000|cost:|cost_computed|@open/);
});
