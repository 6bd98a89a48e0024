import { expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { nano } from "../../lib/money.ts";
import { capabilityByStage, type DramaStage, dramaStages, type Price } from "../catalog/index.ts";
import { quoteDrama } from "./quote-drama.ts";

function priceOf(stage: DramaStage | null, unit: "call" | "second", price: bigint, minimum = 0n): Price {
  const capability = stage === null ? null : capabilityByStage[stage];
  return createTestPrice({ id: `price_${stage ?? "all"}`, capability, unit, rates: { [unit]: price }, minimum });
}

const prices = [
  priceOf("script", "call", 20n),
  priceOf("roles", "call", 10n),
  priceOf("storyboard", "call", 100n),
  priceOf("video", "second", 80n, 400n),
];

test("each stage is quoted at its own price, the film at its maximum length", () => {
  const terms = quoteDrama(prices, { stages: dramaStages, secondsMax: 60, budgetAmount: nano(7n) });
  const common = { per: 1n, minimum: 0n, counts: "calls", unitsMax: 1n };
  expect(terms).toEqual({
    stages: [
      { step: "script", outputType: "script", priceId: "price_script", rate: 20n, ...common },
      { step: "roles", outputType: "roles", priceId: "price_roles", rate: 10n, ...common },
      { step: "storyboard", outputType: "storyboard", priceId: "price_storyboard", rate: 100n, ...common },
      {
        ...{ step: "film", outputType: "video", priceId: "price_video", rate: 80n },
        ...{ per: 1n, minimum: 400n, counts: "seconds", unitsMax: 60n },
      },
    ],
    marks: [],
    quota: { kind: "video", unitsMax: 63n },
    budgetAmount: 7n,
  });
});

test("only the stages that run are quoted", () => {
  const terms = quoteDrama(prices, { stages: ["roles"], secondsMax: 60, budgetAmount: null });
  expect(terms.stages.map(({ step }) => step)).toEqual(["roles"]);
  expect(terms.quota.unitsMax).toBe(1n);
});

test("a film priced per call counts once, however long it is", () => {
  const terms = quoteDrama([priceOf("video", "call", 500n)], { stages: ["video"], secondsMax: 60, budgetAmount: null });
  expect(terms.stages).toMatchObject([{ step: "film", counts: "calls", unitsMax: 1n, rate: 500n }]);
});

test("a general price applies to each stage without a price of its own", () => {
  const all = [priceOf(null, "call", 5n), priceOf("roles", "call", 10n)];
  const terms = quoteDrama(all, { stages: ["script", "roles"], secondsMax: 60, budgetAmount: null });
  expect(terms.stages.map(({ priceId, rate }) => [priceId, rate])).toEqual([
    ["price_all", 5n],
    ["price_roles", 10n],
  ]);
});

test("a stage without a price is rejected", () => {
  const only = [priceOf("script", "call", 20n)];
  expect(() => quoteDrama(only, { stages: ["script", "roles"], secondsMax: 60, budgetAmount: null })).toThrow(
    expect.objectContaining({ code: "unsupported_capability" }),
  );
});
