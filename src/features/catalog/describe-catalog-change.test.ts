import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { noFactor, parseFactor } from "../../lib/factor.ts";
import { nano } from "../../lib/money.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import type { Model } from "./model.ts";

const main: ProviderDefinition = { id: "main", kind: "openai-compatible", base_url: "https://example.com" };
const film: Model = {
  ...{ id: "film", name: "Film", type: "video", logo: "", description: "", advantages: [], scenarios: [] },
  ...{ capabilities: ["text_to_video"], limits: { durations: [5] }, created_at: "2026-01-01T00:00:00Z" },
  routes: [{ provider: "main", upstream_model: "film-1", priority: 0, weight: 1 }],
};
const usual = { modelId: "film", effectiveAt: new Date("2026-01-01T00:00:00Z"), unit: "second" } as const;
const price = createTestPrice({ ...usual, rates: { second: 500_000_000n } });
const content = { currency: "USD", providers: [main], models: [film], prices: [price], multipliers: [] };

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

type Fields = Parameters<typeof createTestPrice>[0];
const tokens = { input: 100_000_000n, output: 200_000_000n };
const conditional = [
  { item: "second", rate: nano(1n), when: { resolution: "720p", audio: true } },
  { item: "second", rate: nano(2n) },
] as const;

test.each<[string, Fields]>([
  ["film (text_to_video): 0.50 per second", { capability: "text_to_video" }],
  ["film for plan pro: 0.50 per second", { planId: "pro" }],
  ["film for acct_1: 0.50 per second", { accountId: "acct_1" }],
  ["film: 12.00 per image", { unit: "image", rates: { image: 12_000_000_000n } }],
  ["film: 0.50 per second, at least 1.50", { minimum: 1_500_000_000n }],
  ["film: 0.000000001 in, 0.20 out per 1K tokens", { unit: "1K tokens", rates: { ...tokens, input: 1n } }],
  [
    "film: 0.10 in, 0.20 out, 0.000000018 cached, 0.00000002 cache write 5m, 0.00000002 cache write 1h, " +
      "0.000000017 audio in, 0.000000015 reasoning, 0.000000018 audio out per 1K tokens",
    {
      unit: "1K tokens",
      rates: {
        ...{ ...tokens, cached_input: 18n, cache_write_5m: 20n, cache_write_1h: 20n, input_audio: 17n },
        ...{ reasoning: 15n, output_audio: 18n },
      },
    },
  ],
  ["film: 0.000000001 (resolution 720p, audio true), 0.000000002 per second", { rates: {}, items: conditional }],
  [
    "film: 0.10 in, 0.20 out, 0.000000003 out (above 200000 tokens) per 1K tokens, tiers by part, flex × 0.5",
    {
      ...{ unit: "1K tokens", rates: {}, tierScope: "part", serviceTiers: { flex: parseFactor("0.5") ?? noFactor } },
      items: [
        { item: "input", rate: nano(tokens.input) },
        { item: "output", rate: nano(tokens.output) },
        { item: "output", rate: nano(3n), aboveInputTokens: 200_000 },
      ],
    },
  ],
])("a price is described as: %s", (text, fields) => {
  const next = createTestPrice({ ...usual, rates: { second: 500_000_000n }, ...fields });
  const lines = describeCatalogChange({ ...content, prices: [] }, { ...content, prices: [next] });
  expect(lines).toEqual([`+ price ${text} from 2026-01-01T00:00:00.000Z`]);
});

test("multipliers that were added and removed have a line each", () => {
  const ended = { account: "acct_1", type: "video", factor: "0.8", ends_at: "2026-02-01T00:00:00Z" } as const;
  const begun = { plan: "pro", model: "film", factor: "1.1", effective_at: "2026-01-01T01:00:00+01:00" };
  const kept = { plan: "pro", factor: "0.9" };
  const lines = describeCatalogChange(
    { ...content, multipliers: [kept, ended] },
    { ...content, multipliers: [begun, kept] },
  );
  expect(lines).toEqual([
    "- multiplier 0.8 × video models for acct_1 until 2026-02-01T00:00:00.000Z",
    "+ multiplier 1.1 × film for plan pro from 2026-01-01T00:00:00.000Z",
  ]);
});
