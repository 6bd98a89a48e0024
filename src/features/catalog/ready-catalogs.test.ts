import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CatalogFile, PriceLine } from "./catalog-file.ts";
import { checkCatalog } from "./check-catalog.ts";
import { multiply, parseDecimal, presentExactPrice, scale } from "./imports/exact-decimal.ts";
import { parseCatalog } from "./parse-catalog.ts";

const folder = join(import.meta.dirname, "../../../catalogs");
const all = readdirSync(folder).filter((name) => name !== "sandbox.yaml");
const names = all.filter((name) => parse(name).models.every(({ type }) => type === "chat"));
const mediaNames = all.filter((name) => !names.includes(name));

function read(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function parse(name: string) {
  const parsed = parseCatalog(read(name));
  if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
  return parsed.file;
}

const priceNames: Readonly<Record<string, string>> = {
  in: "input_price",
  out: "output_price",
  cached: "cached_input_price",
  "cache write": "cache_write_5m_price",
  "audio in": "audio_input_price",
};

/** `1.50` per million tokens, times 1.2, per thousand. */
function suggest(cost: string, places = -3): string {
  const [vendors, markup] = [parseDecimal(cost), parseDecimal("1.2")];
  if (vendors === null || markup === null) throw new Error(`${cost} is no price`);
  return presentExactPrice(multiply(scale(vendors, places), markup));
}

function check(file: CatalogFile) {
  const none = new Set<string>();
  const around = { currency: "USD", planIds: none, accountIds: none, findPackageFault: () => null };
  return checkCatalog(file, { ...around, hasSecret: () => true });
}

describe.each(names)("%s", (name) => {
  test("passes catalog check with its secret", () => {
    expect(check(parse(name))).toEqual([]);
  });

  test("says when its costs were valid, and where they are from", () => {
    expect(read(name)).toMatch(
      /^# Costs .*https:\/\/.*, commits? [0-9a-f]{8}.*\n# Date of the costs: .*20\d\d-\d\d-\d\d/,
    );
  });

  test("has the limits of every model, and the suggested price of every cost", () => {
    const { models, prices } = parse(name);
    for (const { limits } of models) {
      expect(limits).toMatchObject({ context_window: expect.any(Number), max_output_tokens: expect.any(Number) });
    }
    const costs = [...read(name).matchAll(/# costs: (.*)\n {2}- model: (\S+)/g)];
    expect(costs.map(([, , model]) => model)).toEqual(models.map(({ id }) => id));
    for (const [, listed = "", model] of costs) {
      const suggested = listed.split(", ").map((cost) => {
        const [amount = "", ...kind] = cost.split(" ");
        return [priceNames[kind.join(" ")], suggest(amount)];
      });
      expect(prices.find((line) => line.model === model)).toEqual({
        ...{ model, billing_type: "token", unit: "1K tokens" },
        ...Object.fromEntries(suggested),
      });
    }
  });
});

/** An example of each price that an operator still has to add. */
const examplePrices = {
  image: { billing_type: "per_call", unit: "image" },
  video: { billing_type: "duration", unit: "second" },
  avatar: { billing_type: "duration", unit: "second" },
  speech: { billing_type: "per_call", unit: "1K characters" },
  transcription: { billing_type: "duration", unit: "second" },
} as const;

describe.each(mediaNames)("%s", (name) => {
  const { models, prices, ...rest } = parse(name);
  const unpriced = models.filter(({ id }) => !prices.some(({ model }) => model === id));

  test("passes catalog check with a price for each model: every offer has a route that honours it", () => {
    const added = unpriced.map(({ id: model, type }): PriceLine => {
      if (!(type in examplePrices)) throw new Error(`${model} is no media model`);
      return { model, price: "1", ...examplePrices[type as keyof typeof examplePrices] };
    });
    expect(check({ ...rest, models, prices: [...prices, ...added] })).toEqual([]);
  });

  test("says when its costs were valid and where they are from, and which prices are left to the operator", () => {
    const head = read(name).split("\ncurrency:", 1)[0] ?? "";
    expect(head).toMatch(
      prices.length === 0 ? /^# Costs: none/ : /^# Costs.* https:\/\/.*\n# Date of the costs: .*20\d\d-\d\d-\d\d/,
    );
    expect(head.includes("# Add a price for each of these models before you apply: ")).toBe(unpriced.length > 0);
    for (const { id } of unpriced) expect(head).toContain(id);
    expect(models.map(({ limits }) => Object.keys(limits ?? {}).length > 0)).not.toContain(false);
  });

  test("suggests every cost times 1.2", () => {
    const amounts = [...read(name).matchAll(/price: "([\d.]+)"(.*)/g)];
    for (const [line, price, comment = ""] of amounts) {
      const [, cost = ""] = /# cost ([\d.]+)/.exec(comment) ?? [];
      expect(`${line}: ${suggest(cost, 0)}`).toBe(`${line}: ${price}`);
    }
    expect(amounts.length).toBeGreaterThanOrEqual(models.length - unpriced.length);
  });
});
