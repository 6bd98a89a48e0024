// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { createPlan } from "../../src/features/accounts/index.ts";
import { findPrice } from "../../src/features/catalog/index.ts";
import { billChat } from "../../src/features/chat/quote-chat.ts";
import { billItemsMax } from "../../src/lib/bill.ts";
import { writeCatalog } from "../harness/catalog-source.ts";
import { listBlocks } from "../harness/doc-blocks.ts";
import {
  compilePricing,
  computeModelCharge,
  createRandom,
  createTokenCase,
  createTokenPricing,
} from "../harness/price-model.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { testSeed } from "../harness/test-seed.ts";
import { waitUntil } from "../harness/wait-until.ts";

type PriceList = { object: string; currency: string; data: Record<string, string>[]; effective_at: string };

async function readPrices(gateway: TestGateway, key: string): Promise<PriceList> {
  return (await (await gateway.get("/pricing/models", key)).json()) as PriceList;
}

test("the sandbox's prices have every field of the contract, as decimal text", async () => {
  const clock = createTestClock();
  await using gateway = await startGateway({ clock });
  const { key } = await gateway.createCaller();
  const list = await readPrices(gateway, key);
  expect(list).toMatchObject({ object: "list", currency: "USD", effective_at: "2026-01-01T00:00:00.000Z" });
  const byModel = (id: string) => list.data.filter(({ model }) => model === id);
  expect(byModel("sandbox-chat")).toEqual([
    {
      model: "sandbox-chat",
      billing_type: "token",
      unit: "1K tokens",
      input_price: "0.00015",
      cached_input_price: "0.000075",
      output_price: "0.0006",
    },
  ]);
  expect(byModel("sandbox-video")).toEqual([
    { model: "sandbox-video", billing_type: "duration", unit: "second", price: "0.05", minimum_charge: "0.25" },
  ]);
  expect(byModel("sandbox-drama").map(({ capability, unit }) => [capability, unit])).toEqual([
    ["script_generation", "call"],
    ["role_analysis", "call"],
    ["storyboard", "call"],
    ["drama_video", "second"],
  ]);
});

test("each account sees only its applicable prices: its own, its plan's, and the public ones", async () => {
  await using gateway = await startGateway();
  await createPlan(gateway.parts, { id: "pro", name: "Pro", limits: {} });
  const [plain, pro, special] = await Promise.all([
    gateway.createCaller(),
    gateway.createCaller({ planId: "pro" }),
    gateway.createCaller({ planId: "pro" }),
  ]);
  await gateway.applyCatalog(
    writeCatalog({
      models: [{ id: "m" }],
      prices: [
        { model: "m", input_price: "3.00", billing_type: "token", unit: "1K tokens", output_price: "3.00" },
        {
          model: "m",
          plan: "pro",
          billing_type: "token",
          unit: "1K tokens",
          input_price: "2.00",
          output_price: "2.00",
        },
        {
          model: "m",
          account: special.accountId,
          billing_type: "token",
          unit: "1K tokens",
          input_price: "1.00",
          output_price: "1.00",
        },
      ],
    }),
  );
  await waitUntil("the new catalog", async () => (await readPrices(gateway, plain.key)).data[0]?.model === "m");
  const seen = await Promise.all([plain, pro, special].map(({ key }) => readPrices(gateway, key)));
  expect(seen.map(({ data }) => data.map(({ input_price }) => input_price))).toEqual([["3.00"], ["2.00"], ["1.00"]]);
});

test("a price takes effect at its effective_at, without a restart or a new version", async () => {
  const clock = createTestClock(new Date("2026-06-01T00:00:00Z"));
  await using gateway = await startGateway({ clock });
  const { key } = await gateway.createCaller();
  const future = { model: "m", effective_at: "2026-06-02T00:00:00Z" };
  const source = writeCatalog({
    models: [{ id: "m" }],
    prices: [
      { model: "m" },
      { ...future, billing_type: "token", unit: "1K tokens", input_price: "9", output_price: "9" },
    ],
  });
  await gateway.applyCatalog(source);
  await waitUntil("the new catalog", async () => (await readPrices(gateway, key)).data[0]?.model === "m");
  expect(await readPrices(gateway, key)).toMatchObject({
    data: [{ input_price: "0.10" }],
    effective_at: "2026-06-01T00:00:00.000Z",
  });
  clock.advance(24 * 3_600_000);
  expect(await readPrices(gateway, key)).toMatchObject({
    data: [{ input_price: "9.00" }],
    effective_at: "2026-06-02T00:00:00.000Z",
  });
});

test("a model with only a future price is neither listed nor returned until then", async () => {
  const clock = createTestClock(new Date("2026-06-01T00:00:00Z"));
  await using gateway = await startGateway({ clock });
  const { key } = await gateway.createCaller();
  await gateway.applyCatalog(
    writeCatalog({ models: [{ id: "m" }], prices: [{ model: "m", effective_at: "2026-06-02T00:00:00Z" }] }),
  );
  await waitUntil("the new catalog", async () => (await readPrices(gateway, key)).data.length === 0);
  expect((await gateway.get("/models/m", key)).status).toBe(404);
  clock.advance(24 * 3_600_000);
  expect((await gateway.get("/models/m", key)).status).toBe(200);
});

test("a deployment cannot change its currency, because existing prices would change their meaning", async () => {
  const database = await createTestDatabase();
  {
    await using euro = await startGateway({ sharedDatabase: database, settings: { currency: "EUR" } });
    const { key } = await euro.createCaller();
    expect((await readPrices(euro, key)).currency).toBe("EUR");
    const dollar = startGateway({ sharedDatabase: database, settings: { currency: "USD" } });
    await expect(dollar).rejects.toThrow("The ledger is in EUR, but the setting currency is USD.");
  }
  await database.close();
});

test("a catalog keeps its currency, also before any booking", async () => {
  const database = await createTestDatabase();
  {
    const settings = { currency: "EUR", sandbox: "off" } as const;
    await using euro = await startGateway({ sharedDatabase: database, settings });
    await euro.applyCatalog(writeCatalog({ currency: "EUR", models: [{ id: "m" }], prices: [{ model: "m" }] }));
    const dollar = startGateway({ sharedDatabase: database, settings: { currency: "USD", sandbox: "off" } });
    await expect(dollar).rejects.toThrow("The catalog in force is in EUR, but the setting currency is USD.");
  }
  await database.close();
});

test("stored prices cannot be changed or deleted, not even in SQL", async () => {
  await using gateway = await startGateway();
  const change = gateway.database.updateTable("prices").set({ minimum_charge_nano: 1n }).execute();
  await expect(change).rejects.toThrow("never changed");
  await expect(gateway.database.deleteFrom("prices").execute()).rejects.toThrow("never changed");
  await expect(gateway.database.deleteFrom("catalog_prices").execute()).rejects.toThrow("never changed");
});

test("the database rejects a price that is incomplete or below zero", async () => {
  await using gateway = await startGateway();
  const price = {
    id: "price_x",
    model_id: "m",
    billing_type: "token",
    unit: "1K tokens",
    input_price_nano: 1n,
    output_price_nano: 1n,
    minimum_charge_nano: 0n,
    effective_at: new Date(),
    created_at: new Date(),
  };
  const insert = (changes: object) =>
    gateway.database
      .insertInto("prices")
      .values({ ...price, ...changes })
      .execute();
  await expect(insert({ output_price_nano: null })).rejects.toThrow("prices_amounts_complete");
  await expect(insert({ billing_type: "per_call" })).rejects.toThrow("prices_amounts_complete");
  await expect(insert({ input_price_nano: -1n })).rejects.toThrow("prices_amounts_positive");
  // Gateways of version 0.2.0 write no other columns.
  await expect(insert({})).resolves.toBeDefined();
  expect(await findPrice(gateway.database, "price_x")).toMatchObject({
    amounts: { inputPrice: 1n, outputPrice: 1n, cachedInputPrice: null, per: 1000n, tiers: [] },
    terms: {
      items: [
        { item: "input", rate: 1n },
        { item: "output", rate: 1n },
      ],
      tierScope: "call",
      serviceTiers: {},
    },
  });
});

test("a catalog with every form of price that is applied again changes nothing, and has no new version", async () => {
  await using gateway = await startGateway();
  const guide = readFileSync(join(repositoryDir, "docs/operating/pricing.md"), "utf8");
  const examples = listBlocks(guide)
    .filter(({ language, text }) => language === "yaml" && text.includes("models:"))
    .map(({ text }) => parse(text) as Record<"models" | "prices", Record<string, unknown>[]>);
  expect(examples.length).toBeGreaterThanOrEqual(5);
  const source = stringify({
    currency: "USD",
    providers: [
      { id: "acme", kind: "openai-compatible", base_url: "https://api.acme.example/v1" },
      { id: "media", kind: "fal", api_keys: [`\${FAL_KEY}`] },
    ],
    models: examples.flatMap(({ models }, index) =>
      models.map((model) => ({
        ...model,
        id: `${model.id}-${index}`,
        routes: [{ provider: model.type === "chat" ? "acme" : "media", upstream_model: "canary" }],
      })),
    ),
    prices: examples.flatMap(({ prices }, index) =>
      prices.map((price) => ({ ...price, model: `${price.model}-${index}` })),
    ),
    multipliers: [{ type: "chat", factor: "0.75", plan: "pro", effective_at: "2026-01-01T00:00:00Z" }],
  });
  await createPlan(gateway.parts, { id: "pro", name: "Pro", limits: {} });
  const first = await gateway.applyCatalog(source);
  expect(first).toMatchObject({ kind: "accepted", version: 2 });
  expect(await gateway.applyCatalog(source)).toEqual({
    ...{ kind: "accepted", version: 2, changes: [], warnings: [] },
    isTextStored: false,
  });
});

test("two catalogs applied concurrently become two complete versions", async () => {
  await using gateway = await startGateway();
  const sources = ["a", "b"].map((id) => writeCatalog({ models: [{ id }], prices: [{ model: id }] }));
  const outcomes = await Promise.all(sources.map((source) => gateway.applyCatalog(source)));
  expect(outcomes.map((outcome) => outcome.kind === "accepted" && outcome.version).toSorted()).toEqual([2, 3]);
});

test("every charge is recomputed in SQL from its row, whatever its price", async () => {
  await using gateway = await startGateway();
  const random = createRandom(testSeed);
  const cases = Array.from({ length: 3000 }, () => {
    const pricing = createTokenPricing(random);
    const { usage } = createTokenCase(random);
    return {
      bill: billChat(compilePricing(pricing), { ...usage, isCounted: false }),
      cost: computeModelCharge(pricing, usage),
    };
  });
  const rows = cases.map(({ bill: { items, per, minimum } }) => ({
    quantities: items.map(({ quantity }) => String(quantity)),
    rates: items.map(({ rate }) => String(rate)),
    ...{ per: String(per), minimum: String(minimum) },
  }));
  const recomputed = await sql<{ cost: bigint }>`
    select charge_cost(
        array(select value::bigint from jsonb_array_elements_text(bill -> 'quantities') with ordinality order by ordinality),
        array(select value::bigint from jsonb_array_elements_text(bill -> 'rates') with ordinality order by ordinality),
        (bill ->> 'per')::bigint, (bill ->> 'minimum')::bigint) as cost
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) with ordinality as bills (bill, number) order by number`.execute(
    gateway.database,
  );
  expect(recomputed.rows.map(({ cost }) => cost)).toEqual(cases.map(({ cost }) => cost));
  expect(Math.max(...cases.map(({ bill }) => bill.items.length)) + 1).toBeLessThanOrEqual(billItemsMax);
});
