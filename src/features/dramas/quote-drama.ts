import { invariant } from "../../lib/invariant.ts";
import type { Nano } from "../../lib/money.ts";
import { capabilityByStage, type DramaStage, getPrice, type Price } from "../catalog/index.ts";
import type { StagedTerms } from "../tasks/index.ts";
import { stepByStage } from "./drama-request.ts";

/** A drama's maximum cost: each stage at its own price, a film at its maximum length. */
export function quoteDrama(
  prices: readonly Price[],
  {
    stages,
    secondsMax,
    budgetAmount,
  }: { stages: readonly DramaStage[]; secondsMax: number; budgetAmount: Nano | null },
): StagedTerms {
  const priced = stages.map((stage) => ({ stage, price: getPrice(prices, capabilityByStage[stage]) }));
  const terms = priced.map(({ stage, price }) => quoteStage(price, stage, secondsMax));
  const unitsMax = terms.reduce((sum, stage) => sum + stage.unitsMax, 0n);
  const marks = priced.find(({ price }) => price.marks.length > 0)?.price.marks ?? [];
  return { stages: terms, marks, quota: { kind: "video", unitsMax }, budgetAmount };
}

function quoteStage(price: Price, stage: DramaStage, secondsMax: number): StagedTerms["stages"][number] {
  const { amounts } = price;
  invariant(amounts.billingType !== "token", `${price.modelId} makes dramas and is priced by tokens`);
  const isBySecond = stage === "video" && amounts.unit === "second";
  return {
    step: stepByStage[stage],
    outputType: stage,
    priceId: price.id,
    rate: amounts.price,
    per: amounts.per,
    minimum: price.minimumCharge,
    counts: isBySecond ? "seconds" : "calls",
    unitsMax: isBySecond ? BigInt(secondsMax) : 1n,
  };
}
