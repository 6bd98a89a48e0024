import { describe, expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import type { Model } from "./model.ts";
import { type Price, readOwnPrices } from "./price.ts";

const main: ProviderDefinition = { id: "main", kind: "openai-compatible", base_url: "https://example.com" };
const film: Model = {
  ...{ id: "film", name: "Film", type: "video", logo: "", description: "", advantages: [], scenarios: [] },
  ...{ capabilities: ["text_to_video"], limits: { durations: [5] }, created_at: "2026-01-01T00:00:00Z" },
  routes: [{ provider: "main", upstream_model: "film-1", priority: 0, weight: 1 }],
};
const price: Price = {
  ...{ id: "price_1", modelId: "film", capability: null, planId: null, accountId: null },
  ...{ effectiveAt: new Date("2026-01-01T00:00:00Z"), minimumCharge: nano(0n) },
  amounts: { billingType: "duration", unit: "second", price: nano(500_000_000n) },
};
const content = { currency: "USD", providers: [main], models: [film], prices: [price] };

test("equal catalogs have no difference", () => {
  expect(describeCatalogChange(content, content)).toEqual([]);
  expect(describeCatalogChange(content, structuredClone(content))).toEqual([]);
});

test("at first, everything is added", () => {
  expect(describeCatalogChange(null, content)).toEqual([
    "+ provider main",
    "+ model film",
    "+ price film: 0.50 per second from 2026-01-01T00:00:00.000Z",
  ]);
});

test("added and removed entries have a line each; unchanged ones have none", () => {
  const spare: ProviderDefinition = { id: "spare", kind: "sandbox" };
  const talk: Model = { ...film, id: "talk" };
  const next = { ...content, providers: [main, spare], models: [talk], prices: [{ ...price, id: "price_2" }] };
  expect(describeCatalogChange(content, next)).toEqual([
    "+ provider spare",
    "- model film",
    "+ model talk",
    "- price film: 0.50 per second from 2026-01-01T00:00:00.000Z",
    "+ price film: 0.50 per second from 2026-01-01T00:00:00.000Z",
  ]);
  expect(describeCatalogChange(next, content)).toContain("- provider spare");
});

describe("a change of", () => {
  test("the currency", () => {
    expect(describeCatalogChange(content, { ...content, currency: "EUR" })).toEqual(["~ currency USD → EUR"]);
  });

  test("a provider lists the fields that differ: changed, removed or added", () => {
    const { base_url: _gone, ...rest } = main;
    const next: ProviderDefinition = { ...rest, kind: "sandbox", api_keys: ["KEY"] };
    const lines = ["~ provider main: kind, base_url, api_keys"];
    expect(describeCatalogChange(content, { ...content, providers: [next] })).toEqual(lines);
  });

  test.each<[string, Partial<Model>]>([
    ["name", { name: "Movie" }],
    ["limits", { limits: { durations: [5, 10] } }],
    ["capabilities", { capabilities: ["text_to_video", "image_to_video"] }],
    ["routes", { routes: film.routes.map((route) => ({ ...route, weight: 2 })) }],
    ["plans", { plans: ["pro"] }],
    ["stages", { stages: { script: { chat: "talk" } } }],
    ["name, shutdown_date", { name: "Movie", shutdown_date: "2027-01-01T00:00:00Z" }],
  ])("a model, in its %s", (names, fields) => {
    const next = { ...content, models: [{ ...film, ...fields }] };
    expect(describeCatalogChange(content, next)).toEqual([`~ model film: ${names}`]);
  });
});

test.each<[string, Partial<Price>]>([
  ["film (text_to_video): 0.50 per second", { capability: "text_to_video" }],
  ["film for plan pro: 0.50 per second", { planId: "pro" }],
  ["film for acct_1: 0.50 per second", { accountId: "acct_1" }],
  ["film: 12.00 per image", { amounts: { billingType: "per_call", unit: "image", price: nano(12_000_000_000n) } }],
  [
    "film: 0.000000001 in, 0.20 out per 1K tokens",
    {
      amounts: {
        ...{ billingType: "token", unit: "1K tokens", ...readOwnPrices(() => null) },
        ...{ inputPrice: nano(1n), outputPrice: nano(200_000_000n) },
      },
    },
  ],
  [
    "film: 0.10 in, 0.20 out, 0.000000018 cached, 0.00000002 cache write 5m, 0.00000002 cache write 1h, " +
      "0.000000017 audio in, 0.000000015 reasoning, 0.000000018 audio out per 1K tokens",
    {
      amounts: {
        ...{ billingType: "token", unit: "1K tokens" },
        ...{ inputPrice: nano(100_000_000n), outputPrice: nano(200_000_000n) },
        ...readOwnPrices((name) => nano(BigInt(name.length))),
      },
    },
  ],
])("a price is described as: %s", (text, fields) => {
  const lines = describeCatalogChange({ ...content, prices: [] }, { ...content, prices: [{ ...price, ...fields }] });
  expect(lines).toEqual([`+ price ${text} from 2026-01-01T00:00:00.000Z`]);
});
