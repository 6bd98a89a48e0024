import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkCatalog } from "./check-catalog.ts";
import { multiply, parseDecimal, presentExactPrice, scale } from "./imports/exact-decimal.ts";
import { parseCatalog } from "./parse-catalog.ts";

const folder = join(import.meta.dirname, "../../../catalogs");
const names = readdirSync(folder).filter((name) => name !== "sandbox.yaml");

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
function suggest(cost: string): string {
  const [vendors, markup] = [parseDecimal(cost), parseDecimal("1.2")];
  if (vendors === null || markup === null) throw new Error(`${cost} is no price`);
  return presentExactPrice(multiply(scale(vendors, -3), markup));
}

describe.each(names)("%s", (name) => {
  test("passes catalog check with its secret", () => {
    const none = new Set<string>();
    const around = { currency: "USD", planIds: none, accountIds: none, findPackageFault: () => null };
    expect(checkCatalog(parse(name), { ...around, hasSecret: () => true })).toEqual([]);
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
