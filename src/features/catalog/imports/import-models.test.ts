import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { CatalogFile } from "../catalog-file.ts";
import { checkCatalog } from "../check-catalog.ts";
import { parseCatalog } from "../parse-catalog.ts";
import { multiply, parseDecimal, presentExactPrice, scale } from "./exact-decimal.ts";
import { type ImportSource, importModels } from "./import-models.ts";

const now = new Date("2026-11-18T00:00:00Z");

function decimal(text: string) {
  const parsed = parseDecimal(text);
  if (parsed === null) throw new Error(`${text} is no decimal`);
  return parsed;
}

const providers = {
  mistral: { kind: "openai-compatible", base_url: "https://api.mistral.ai/v1" },
  openrouter: { kind: "openai-compatible", base_url: "https://openrouter.ai/api/v1" },
  fal: { kind: "fal", api_keys: [`\${FAL_KEY}`] },
  replicate: { kind: "replicate", api_keys: [`\${REPLICATE_KEY}`] },
};

const empty = `# The house's own catalog.
currency: USD
providers:
${Object.entries(providers)
  .map(([id, fields]) => `  - ${JSON.stringify({ id, ...fields })}`)
  .join("\n")}
models: []
prices: []
`;

type Asked = { source: ImportSource; list: unknown; catalog?: string; provider?: string; markup?: string } & {
  models?: readonly string[];
  more?: object;
};

function plan({ source, list, catalog = empty, provider = "mistral", markup = "1", models, more = {} }: Asked) {
  const outcome = importModels({
    ...{ source, list: typeof list === "string" ? list : JSON.stringify(list), catalog, provider },
    markup: decimal(markup),
    models: models === undefined ? null : new Set(models),
    options: { vendor: provider, now, ...more },
  });
  if (outcome.kind !== "planned") throw new Error(JSON.stringify(outcome));
  const file = parse(outcome.catalog) as CatalogFile;
  return { ...outcome, file, reasons: Object.fromEntries(outcome.leftOut.map(({ id, reason }) => [id, reason])) };
}

/** As `catalog check` does. */
function listProblems(catalog: string): unknown[] {
  const parsed = parseCatalog(catalog);
  if (parsed.kind === "malformed") return parsed.problems;
  const none = new Set<string>();
  return checkCatalog(parsed.file, {
    ...{ currency: "USD", planIds: none, accountIds: none },
    ...{ hasSecret: () => true, findPackageFault: () => null },
  });
}

/** Excerpts in the form of each source. */
const modelsDev = {
  mistral: {
    id: "mistral",
    name: "Mistral",
    models: {
      "house-large": {
        ...{ id: "house-large", name: "House Large", attachment: true, reasoning: false, tool_call: true },
        ...{ structured_output: true, modalities: { input: ["text", "image"], output: ["text"] } },
        cost: { input: 0.5, output: 1.5, cache_read: 0.05 },
        limit: { context: 262144, output: 262144 },
      },
      "house-long": {
        ...{ id: "house-long", name: "House Long", reasoning: true, tool_call: true },
        modalities: { input: ["text"], output: ["text"] },
        cost: { input: 1.25, output: 10, context_over_200k: { input: 2.5, output: 15 } },
        limit: { context: 1048576, output: 65536 },
      },
      "house-old": { id: "house-old", name: "Old", status: "deprecated", modalities: { output: ["text"] }, cost: {} },
      "house-voice": { id: "house-voice", name: "Voice", modalities: { output: ["audio"] }, cost: { input: 1 } },
      "house-unpriced": { id: "house-unpriced", name: "Unpriced", modalities: { output: ["text"] } },
    },
  },
};

const litellm = `{
  "sample_spec": {"litellm_provider": "one of …", "mode": "chat"},
  "mistral/house-large": {
    "input_cost_per_token": 2.1875e-06, "output_cost_per_token": 1.75e-05, "litellm_provider": "mistral",
    "cache_read_input_token_cost": 5.46875e-07, "max_input_tokens": 262144, "max_output_tokens": 8192,
    "mode": "chat", "supports_function_calling": true, "supports_vision": true, "supports_response_schema": true
  },
  "mistral/house-embed": {
    "input_cost_per_token": 1e-07, "output_cost_per_token": 0.0, "litellm_provider": "mistral",
    "max_input_tokens": 8192, "mode": "embedding"
  },
  "mistral/house-ocr": {"litellm_provider": "mistral", "mode": "ocr", "ocr_cost_per_page": 0.001},
  "mistral/house-old": {"litellm_provider": "mistral", "mode": "chat", "deprecation_date": "2025-11-30"},
  "groq/house": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 1e-07, "output_cost_per_token": 1e-07}
}`;

const openRouter = {
  data: [
    {
      ...{ id: "acme/large", name: "Acme: Large", context_length: 128000 },
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      pricing: { prompt: "0.00000015", completion: "0.0000006", request: "0", image: "0", internal_reasoning: "0" },
      top_provider: { max_completion_tokens: 16384 },
      supported_parameters: ["tools", "structured_outputs", "reasoning", "max_tokens"],
    },
    {
      ...{ id: "acme/auto", name: "Auto", context_length: 1 },
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      pricing: { prompt: "-1", completion: "-1" },
    },
    {
      ...{ id: "acme/search", name: "Search", context_length: 1 },
      architecture: { input_modalities: ["text"], output_modalities: ["text"] },
      pricing: { prompt: "0.000001", completion: "0.000001", request: "0.005" },
    },
  ],
};

const fal = {
  models: [
    {
      endpoint_id: "fal-ai/flux/dev",
      metadata: { display_name: "FLUX.1 [dev]", category: "text-to-image", status: "active" },
    },
    { endpoint_id: "fal-ai/film", metadata: { display_name: "Film", category: "image-to-video", status: "active" } },
    { endpoint_id: "fal-ai/pixels", metadata: { display_name: "Pixels", category: "text-to-image" } },
    { endpoint_id: "fal-ai/train", metadata: { display_name: "Train", category: "training" } },
    { endpoint_id: "fal-ai/unpriced", metadata: { display_name: "Unpriced", category: "text-to-image" } },
  ],
  prices: [
    { endpoint_id: "fal-ai/flux/dev", unit_price: 0.025, unit: "image", currency: "USD" },
    { endpoint_id: "fal-ai/film", unit_price: 0.1, unit: "second", currency: "USD" },
    { endpoint_id: "fal-ai/pixels", unit_price: 0.05, unit: "megapixels", currency: "USD" },
  ],
};

const replicate = {
  next: null,
  previous: null,
  results: [
    {
      url: "https://replicate.com/acme/paint",
      ...{ owner: "acme", name: "paint", visibility: "public", run_count: 5, latest_version: null },
    },
  ],
};

test("models.dev: prices per million become prices per thousand, with the markup", () => {
  const { file, added, reasons, catalog } = plan({ source: "models.dev", list: modelsDev, markup: "1.2" });
  expect(file.models[0]).toEqual({
    ...{ id: "house-large", name: "House Large", type: "chat" },
    capabilities: ["chat", "streaming", "tools", "vision", "json_schema"],
    limits: { context_window: 262144, max_output_tokens: 262144 },
    routes: [{ provider: "mistral", upstream_model: "house-large" }],
  });
  expect(file.prices[0]).toEqual({
    ...{ model: "house-large", billing_type: "token", unit: "1K tokens" },
    ...{ input_price: "0.0006", output_price: "0.0018", cached_input_price: "0.00006" },
  });
  expect(added).toHaveLength(2);
  expect(reasons).toEqual({
    "house-old": "it is deprecated",
    "house-voice": "its output is not text",
    "house-unpriced": "it has no price per token",
  });
  expect(catalog).toMatch(/^# The house's own catalog\./);
});

test("the dearest price of long contexts counts", () => {
  const { file } = plan({ source: "models.dev", list: modelsDev, models: ["house-long"] });
  expect(file.prices).toMatchObject([{ model: "house-long", input_price: "0.0025", output_price: "0.015" }]);
});

test("LiteLLM: prices per token are exact, and only the vendor's models are taken", () => {
  const { file, reasons } = plan({ source: "litellm", list: litellm });
  expect(file.prices).toEqual([
    {
      ...{ model: "house-large", billing_type: "token", unit: "1K tokens" },
      ...{ input_price: "0.0021875", output_price: "0.0175", cached_input_price: "0.000546875" },
    },
    { model: "house-embed", billing_type: "token", unit: "1K tokens", input_price: "0.0001" },
  ]);
  expect(reasons).toEqual({ "house-ocr": "its mode is ocr", "house-old": "it is deprecated" });
});

test("OpenRouter: a price that varies, or is also per request, is left out", () => {
  const { file, reasons } = plan({ source: "openrouter", list: openRouter, provider: "openrouter" });
  expect(file.prices).toEqual([
    {
      ...{ model: "acme/large", billing_type: "token", unit: "1K tokens" },
      ...{ input_price: "0.00015", output_price: "0.0006" },
    },
  ]);
  expect(file.models[0]?.capabilities).toEqual(["chat", "streaming", "tools", "vision", "json_schema", "reasoning"]);
  expect(reasons).toEqual({
    "acme/auto": "it has no price per token",
    "acme/search": "it also has a price per request",
  });
});

test("fal: units that the catalog has are taken, others are named", () => {
  const { file, reasons } = plan({ source: "fal", list: fal, provider: "fal" });
  expect(file.prices).toEqual([
    { model: "fal-ai/flux/dev", billing_type: "per_call", unit: "image", price: "0.025" },
    { model: "fal-ai/film", billing_type: "duration", unit: "second", price: "0.10" },
  ]);
  expect(reasons).toEqual({
    "fal-ai/pixels": "it is priced by megapixels",
    "fal-ai/train": "its category is training",
    "fal-ai/unpriced": "the file has no price of it",
  });
});

test("Replicate: the operator gives the type and the price, which the list lacks", () => {
  const asked = { source: "replicate", list: replicate, provider: "replicate" } as const;
  expect(plan(asked).reasons).toEqual({ "acme/paint": expect.stringContaining("--type") });
  expect(plan({ ...asked, more: { type: "image" } }).reasons).toEqual({
    "acme/paint": expect.stringContaining("--price"),
  });
  const { file } = plan({ ...asked, more: { type: "image", price: decimal("0.04") }, markup: "1.5" });
  expect(file.prices).toEqual([{ model: "acme/paint", billing_type: "per_call", unit: "image", price: "0.06" }]);
});

test.each<Asked>([
  { source: "models.dev", list: modelsDev },
  { source: "litellm", list: litellm },
  { source: "openrouter", list: openRouter, provider: "openrouter" },
  { source: "fal", list: fal, provider: "fal" },
  { source: "replicate", list: replicate, provider: "replicate", more: { type: "image", price: decimal("1") } },
])("what $source adds passes catalog check, and a second import changes nothing", (asked) => {
  const { catalog } = plan(asked);
  expect(listProblems(catalog)).toEqual([]);
  const again = plan({ ...asked, catalog });
  expect([again.added, again.changed, again.gone]).toEqual([[], [], []]);
  expect(again.catalog).toBe(catalog);
});

test("prices of models in the file change, and everything else stays as the operator wrote it", () => {
  const { catalog } = plan({ source: "models.dev", list: modelsDev });
  const edited = catalog
    .replace("name: House Large", "name: Our Large # ours")
    .replace(`input_price: "0.0005"`, `input_price: "0.00040"`)
    .concat(`  - { model: house-large, account: acct_1, ${priceFields("0.1")} }\n`);
  const { changed, catalog: next } = plan({ source: "models.dev", list: modelsDev, catalog: edited });
  expect(changed).toEqual(["house-large: input_price 0.00040 → 0.0005"]);
  expect(next).toContain("name: Our Large # ours");
  expect(next).toContain(`account: acct_1, ${priceFields("0.1")}`);
});

function priceFields(price: string): string {
  return `billing_type: token, unit: 1K tokens, input_price: "${price}", output_price: "${price}"`;
}

test("models that the list no longer has are named and stay", () => {
  const { catalog } = plan({ source: "models.dev", list: modelsDev });
  const { "house-long": _, ...left } = modelsDev.mistral.models;
  const list = { mistral: { ...modelsDev.mistral, models: left } };
  const { gone, catalog: next } = plan({ source: "models.dev", list, catalog });
  expect([gone, next]).toEqual([["house-long"], catalog]);
  expect(plan({ source: "models.dev", list, catalog, models: ["house-large"] }).gone).toEqual([]);
});

test("a model of the same name at another provider is not touched", () => {
  const { catalog } = plan({ source: "models.dev", list: modelsDev });
  const { reasons } = plan({
    ...{ source: "models.dev", list: modelsDev, catalog, provider: "openrouter", more: { vendor: "mistral" } },
  });
  expect(reasons["house-large"]).toMatch(/another provider: add a route/);
});

test.each([
  [{ provider: "absent" }, /no provider absent/],
  [{ list: "<html>" }, /not JSON/],
  [{ list: "{}" }, /no models of mistral/],
])("%j is refused with the fix", (change, message) => {
  const outcome = importModels({
    ...{ source: "models.dev", list: JSON.stringify(modelsDev), catalog: empty, provider: "mistral" },
    ...{ markup: decimal("1"), models: null, options: { vendor: "mistral", now } },
    ...change,
  });
  expect(outcome).toMatchObject({
    kind: "refused",
    message: expect.stringMatching(message),
    remedy: expect.any(String),
  });
});

test("prices are exact, and rounded up where nine places are too few", () => {
  expect(presentExactPrice(scale(decimal("1.5e-07"), 3))).toBe("0.00015");
  expect(presentExactPrice(multiply(decimal("0.000000001"), decimal("1.1")))).toBe("0.000000002");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.integer({ min: 0, max: 12 }), (digits, places) => {
      const shown = decimal(presentExactPrice({ digits, places }));
      const least = digits * 10n ** 12n;
      const told = shown.digits * 10n ** BigInt(12 + places - shown.places);
      expect(told >= least && told - least < 10n ** BigInt(3 + places)).toBe(true);
    }),
  );
});

test("a price gets the kinds of tokens that the list has now, whatever its form", () => {
  const { catalog } = plan({ source: "models.dev", list: modelsDev, models: ["house-large"] });
  const block = catalog.replace(/\n +cached_input_price: .*/, "");
  const flow = block.replace(
    /- model: house-large[\s\S]*/,
    `- { model: house-large, ${priceFields("1")} } # dear\n  # the end\n`,
  );
  for (const before of [block, flow]) {
    const { catalog: next, changed } = plan({ source: "models.dev", list: modelsDev, catalog: before });
    expect(changed[0]).toMatch(/cached_input_price none → 0\.00005$/);
    expect(listProblems(next)).toEqual([]);
    expect(next.includes("# dear")).toBe(before.includes("# dear"));
    expect((parse(next) as CatalogFile).prices).toHaveLength(2);
  }
});
