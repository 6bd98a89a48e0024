import { expect, test } from "vitest";
import type { CatalogFile } from "./catalog-file.ts";
import { listLosses } from "./list-losses.ts";

type Entry = CatalogFile["models"][number];
type Line = CatalogFile["prices"][number];
type Sheet = NonNullable<NonNullable<Entry["routes"]>[number]["cost_sheet"]>;

function list(sheet: Sheet, price: Partial<Line>, more: Partial<CatalogFile> = {}, type: Entry["type"] = "chat") {
  const route = { provider: "acme", upstream_model: "large-2", cost_sheet: sheet };
  const model: Entry = { id: "large", name: "Large", type, capabilities: ["chat"], routes: [route] };
  const line: Line = { model: "large", billing_type: "token", unit: "1K tokens", ...price };
  const file: CatalogFile = { currency: "USD", providers: [], models: [model], prices: [line], ...more };
  return listLosses(file).map(({ message }) => message);
}

const tokens = { unit: "1M tokens", input_price: "3", output_price: "15" };
const above = (price: string) => ({ item: "output" as const, above_input_tokens: 200_000, price });

test("a price at cost is no loss, whatever its unit", () => {
  expect(list(tokens, { input_price: "0.003", output_price: "0.015" })).toEqual([]);
});

test("a rate below the route's cost is named with both amounts", () => {
  expect(list(tokens, { input_price: "0.003", output_price: "0.0149" })).toEqual([
    "output is sold at 0.0149 and costs 0.015 at the route acme large-2. Raise the price, or change the route.",
  ]);
});

test("a tier that only the vendor has is a loss", () => {
  const [message] = list({ ...tokens, items: [above("22.5")] }, { input_price: "0.003", output_price: "0.02" });
  expect(message).toMatch(/^output above 200000 input tokens is sold at 0.02 and costs 0.0225 /);
  const sold = { input_price: "0.003", output_price: "0.015", items: [above("0.0225")] };
  expect(list({ ...tokens, items: [above("22.5")] }, sold)).toEqual([]);
});

test("a multiplier that makes a price too low is named", () => {
  const price = { input_price: "0.0035", output_price: "0.0175" };
  const multipliers = [
    { plan: "fair", factor: "0.9" },
    { plan: "other", factor: "0.1", type: "image" as const },
    { plan: "pro", factor: "0.8" },
  ];
  const [message, ...more] = list(tokens, price, { multipliers });
  expect(more).toEqual([]);
  expect(message).toMatch(/^With the multiplier 0.8 of pro, input is sold at 0.0028 and costs 0.003 /);
  // Fixed prices of an account have no multiplier.
  expect(list(tokens, { ...price, account: "acct_1" }, { multipliers })).toEqual([]);
});

test("media are compared request by request", () => {
  const sheet = { unit: "image", items: [{ quality: "high", price: "0.2" }], price: "0.05" };
  const price = (items: NonNullable<Line["items"]>) => ({ billing_type: "per_call" as const, unit: "image", items });
  const sold = [{ quality: "high", price: "0.25" }, { price: "0.06" }];
  expect(list(sheet, price(sold), {}, "image")).toEqual([]);
  const [message] = list(sheet, price([{ price: "0.06" }]), {}, "image");
  expect(message).toMatch(/^image is sold at 0.06 and costs 0.20* /);
});

test("prices in another unit than the cost cannot be compared", () => {
  expect(list(tokens, { billing_type: "per_call", unit: "call", price: "0.01" })).toEqual([]);
});
