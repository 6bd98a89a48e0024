import { expect, test } from "vitest";
import type { CatalogFile, CatalogProblem } from "./catalog-file.ts";
import { checkCostSheets } from "./check-prices.ts";
import { decideCost } from "./cost-sheet.ts";
import { listRouteTargets } from "./route-target.ts";

type Route = NonNullable<CatalogFile["models"][number]["routes"]>[number];

function check(route: Partial<Route>, type: CatalogFile["models"][number]["type"] = "chat", currency = "USD") {
  const problems: CatalogProblem[] = [];
  const routes = [{ provider: "acme", upstream_model: "m", ...route }];
  const model = { id: "m", name: "M", type, capabilities: ["chat" as const], routes };
  checkCostSheets(model, ["models", 0], { currency, report: (path, message) => problems.push({ path, message }) });
  return problems.map(({ path, message }) => `${path.slice(4).join(".")}: ${message}`);
}

test("a cost sheet follows the rules of the model's prices", () => {
  expect(check({ cost_sheet: { unit: "1M tokens", input_price: "3", output_price: "15" } })).toEqual([]);
  expect(check({ cost_sheet: { unit: "image", price: "1" } })).toEqual([
    "cost_sheet.unit: chat models can't be priced by image. Use: 1K tokens, call.",
  ]);
  expect(check({ cost_sheet: { unit: "1M tokens", input_price: "3" } })).toEqual([
    "cost_sheet: A price with billing_type token needs output_price. Add it.",
  ]);
  expect(check({ cost_sheet: { unit: "call", price: "cheap" } })[0]).toMatch(
    /^cost_sheet.price: "cheap" is not a price/,
  );
});

test("vendors report costs of chat calls, in dollars", () => {
  expect(check({ reports_cost: true })).toEqual([]);
  expect(check({ reports_cost: true }, "chat", "CNY")[0]).toMatch(/^reports_cost: Vendors report costs in USD/);
  expect(check({ reports_cost: true }, "image")[0]).toMatch(/^reports_cost: Only costs of chat calls/);
});

test("what a vendor reports comes before the cost sheet, if the route says so", () => {
  const route = { provider: "acme", upstream_model: "m", priority: 0, weight: 1 };
  const sheet = { unit: "call", price: "0.01" };
  const decide = (more: object, reportedNano?: number) => {
    const provider = { id: "acme", kind: "openai-compatible" as const };
    const model = { id: "m", routes: [{ ...route, ...more }] } as Parameters<typeof listRouteTargets>[0];
    const [target] = listRouteTargets(model, new Map([["acme", provider]]), { find: () => null } as never);
    if (target === undefined) throw new Error("the model has no target");
    const cost = decideCost(target, {
      ...(reportedNano === undefined ? {} : { reportedNano }),
      compute: ({ amounts }) => ("price" in amounts ? amounts.price : (0n as never)),
    });
    return cost === null ? null : [cost.amount, cost.computed];
  };
  expect(decide({}, 5)).toBeNull();
  expect(decide({ reports_cost: true })).toBeNull();
  expect(decide({ reports_cost: true }, 5)).toEqual([5n, null]);
  expect(decide({ cost_sheet: sheet }, 5)).toEqual([10_000_000n, null]);
  expect(decide({ cost_sheet: sheet, reports_cost: true }, 5)).toEqual([5n, 10_000_000n]);
  expect(decide({ cost_sheet: sheet, reports_cost: true })).toEqual([10_000_000n, null]);
});
