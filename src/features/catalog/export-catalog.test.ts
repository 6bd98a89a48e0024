import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { nano } from "../../lib/money.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogFile } from "./catalog-file.ts";
import { checkCatalog } from "./check-catalog.ts";
import { describeCatalogChange } from "./describe-catalog-change.ts";
import { exportCatalog } from "./export-catalog.ts";
import type { Model } from "./model.ts";
import { parseCatalog } from "./parse-catalog.ts";
import { planCatalogChange } from "./plan-catalog-change.ts";
import { type PriceTerms, sortItems } from "./price.ts";

const now = new Date("2026-06-01T00:00:00Z");

function parseChecked(source: string): CatalogFile {
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
  const ids = { planIds: new Set(["pro"]), accountIds: new Set(["acct_1"]) };
  const surroundings = { currency: "USD", ...ids, hasSecret: () => true, findPackageFault: () => null };
  expect(checkCatalog(parsed.file, surroundings)).toEqual([]);
  return parsed.file;
}

function plan(file: CatalogFile, current: Catalog | null, at: Date): Catalog {
  let count = 0;
  const planned = planCatalogChange({ file, current, now: at, createPriceId: () => `price_new${count++}` });
  if (planned.kind === "impossible") throw new Error(JSON.stringify(planned.problems));
  return { ...planned.change.next, version: 1, appliedAt: now };
}

/** Reads the exported file back and plans it over the catalog that it came from. */
function expectRoundTrip(catalog: Catalog, at: Date): void {
  const next = plan(parseChecked(exportCatalog(catalog)), catalog, at);
  expect(describeCatalogChange(catalog, next)).toEqual([]);
  expect(next).toEqual(catalog);
}

/** Texts that a naive YAML writer would not read back unchanged. */
const trickyText = fc.constantFrom(
  ...["0.10", "1e3", "0x1F", "007", "yes", "null", "~", "true", "# no comment", "a: b", "- item", "*alias", "&anchor"],
  ...["!tag", "{flow}", "[list]", "'quoted'", '"quoted"', "%directive", "@at", "`tick`", " padded ", "\ttab", "a\\nb"],
  ...["two\nlines", "ends with a line\n", "\n\nbegins late", "carriage\rreturn", "---", "...", "|", ">", "é — 漢字 🎬"],
  ...["word ".repeat(60), "x".repeat(300), "2026-01-01", "16:9", "<<", "?", ":", "key:", "line one \n  line two\n\n"],
);
const text = fc.oneof(trickyText, fc.string({ minLength: 1, unit: "grapheme" }));
const texts = fc.array(text, { maxLength: 3 });
const whole = fc.integer({ min: 1, max: 1000 });
const amount = fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }).map(nano);
const time = fc.date({ min: new Date("2025-01-01"), max: new Date("2027-12-31"), noInvalidDate: true });

const provider = fc.constantFrom<ProviderDefinition>(
  { id: "main", kind: "sandbox" },
  { id: "main", kind: "fal", base_url: "http://localhost:1/v1", api_keys: [`\${A}`, `\${B}`] },
);

const limits = fc.record(
  {
    durations: fc.array(whole, { minLength: 1 }),
    aspect_ratios: fc.constant<string[]>(["16:9"]),
    max_input_images: whole,
  },
  { requiredKeys: [], noNullPrototype: true },
);
const logo = fc.constantFrom("", "/logos/video.svg", "https://example.com/logo.png");
const route = fc
  .tuple(text, whole, whole)
  .map(([upstream_model, priority, weight]) => ({ provider: "main", upstream_model, priority, weight }));
const scarce = fc.constantFrom<Partial<Model>>({}, { plans: ["pro"] }, { deprecated_at: "2026-01-01T02:00+02:00" });
const model: fc.Arbitrary<Model> = fc
  .record({
    ...{ name: text, logo, description: text, advantages: texts, scenarios: texts, limits },
    id: fc.constantFrom("film", "12", "1e3", "a/b:c", "null", "0.10"),
    type: fc.constant("video" as const),
    capabilities: fc.constant<Model["capabilities"]>(["text_to_video", "image_to_video"]),
    created_at: time.map((date) => date.toISOString()),
    routes: fc.array(route, { maxLength: 2 }),
    scarce,
  })
  .map(({ scarce, ...rest }) => ({ ...rest, ...scarce }));

/** The ways to price a video. */
const terms = fc
  .record({
    unit: fc.constantFrom("call" as const, "second" as const),
    rates: fc.array(amount, { minLength: 3, maxLength: 3 }),
    isKeyed: fc.boolean(),
    inputRate: fc.option(amount, { nil: undefined }),
  })
  .map(({ unit, rates: [first, ...others], isKeyed, inputRate }): PriceTerms["items"] => [
    ...(isKeyed ? [{ item: unit, rate: others[0] ?? nano(0n), when: { input: "image" as const } }] : []),
    ...(inputRate === undefined ? [] : [{ item: "input_image" as const, rate: inputRate }]),
    { item: unit, rate: first ?? nano(0n) },
  ])
  .map((items) => ({
    unit: items.at(-1)?.item === "call" ? ("call" as const) : ("second" as const),
    items: sortItems(items),
  }));
const draft = fc.record({
  capability: fc.constantFrom("image_to_video" as const, null),
  scope: fc.constantFrom({}, { planId: "pro" }, { accountId: "acct_1" }),
  effectiveAt: time,
  minimum: fc.oneof(fc.constant(nano(0n)), amount),
  terms,
});

const catalog: fc.Arbitrary<Catalog> = fc
  .record({
    provider,
    models: fc.uniqueArray(model, { selector: ({ id }) => id, maxLength: 4 }),
    drafts: fc.uniqueArray(draft, { selector: ({ effectiveAt }) => effectiveAt.getTime(), minLength: 4 }),
  })
  .map(({ provider, models, drafts }) => {
    const prices =
      models.length === 0
        ? []
        : drafts.map(({ scope, terms, ...rest }, index) => {
            const modelId = models[index % models.length]?.id ?? "";
            // Of one capability, all requests have the same input.
            const capability = terms.items.some(({ when }) => when !== undefined) ? null : rest.capability;
            return createTestPrice({ id: `price_${index}`, modelId, ...scope, ...rest, ...terms, capability });
          });
    const multipliers = [{ plan: "pro", type: "video" as const, factor: "0.8" }];
    return { version: 1, currency: "USD", appliedAt: now, providers: [provider], models, prices, multipliers };
  });

test("an exported catalog, applied at any time, changes nothing", () => {
  fc.assert(fc.property(catalog, time, (made, at) => expectRoundTrip(made, at)));
});

test("the sandbox catalog survives being exported", () => {
  const source = readFileSync(join(import.meta.dirname, "../../../catalogs/sandbox.yaml"), "utf8");
  expectRoundTrip(plan(parseChecked(source), null, now), new Date("2026-07-01T00:00:00Z"));
});

test("a catalog with a future price survives an export, also after the price takes effect", () => {
  const source = `currency: USD
providers: []
models: [{ id: talk, name: Talk, type: chat, capabilities: [chat] }]
prices:
  - { model: talk, billing_type: token, unit: 1K tokens, input_price: 1, output_price: 2, cached_input_price: 0.5, cache_write_5m_price: 1.25, cache_write_1h_price: 2, reasoning_price: 3 }
  - { model: talk, billing_type: token, unit: 1K tokens, input_price: 3, output_price: 4, effective_at: 2026-09-01T00:00Z }
`;
  const made = plan(parseChecked(source), null, now);
  expectRoundTrip(made, now);
  expectRoundTrip(made, new Date("2027-01-01T00:00:00Z"));
});

test("an exported file has amounts as strings, and only the fields that are set", () => {
  const source = `currency: USD
providers: []
models: [{ id: film, name: Film, type: video, capabilities: [text_to_video] }]
prices: [{ model: film, billing_type: duration, unit: second, price: 0.10 }]
`;
  const [first = "", second = ""] = exportCatalog(plan(parseChecked(source), null, now)).split("prices:");
  expect(first).toContain("  - id: film\n    name: Film\n");
  const lines = ["- model: film", "  billing_type: duration", "  unit: second", '  price: "0.10"'];
  expect(second).toBe(
    ["", ...lines, "  effective_at: 2026-06-01T00:00:00.000Z", ""].join("\n  ").trimEnd().concat("\n"),
  );
});
