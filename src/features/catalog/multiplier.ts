import { type Factor, parseFactor } from "../../lib/factor.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Model, ModelType } from "./model.ts";
import type { Price } from "./price.ts";

/** A factor of the prices of a plan or an account, as the catalog states it. */
export type Multiplier = {
  plan?: string;
  account?: string;
  /** Only models of this type, or only this model; neither means all. */
  type?: ModelType;
  model?: string;
  factor: string;
  /** From the beginning if absent, and without an end. */
  effective_at?: string;
  ends_at?: string;
};

type Customer = { accountId: string; planId: string | null };
type Multiplied = { model: Pick<Model, "id" | "type">; price: Pick<Price, "accountId" | "planId"> };

/**
 * The factor of a price for a customer; `null` without one. The account's beats its plan's, a model's beats its type's,
 * and that beats everything's; of equals, the one that began last. A fixed price of the account has no factor, and one of
 * a plan only the account's.
 */
export function findMultiplier(
  multipliers: readonly Multiplier[],
  { model, price, customer, now }: Multiplied & { customer: Customer; now: Date },
): Factor | null {
  if (price.accountId !== null) return null;
  let best: Multiplier | null = null;
  let bestRank = -1;
  for (const multiplier of multipliers) {
    const rank = rankMultiplier(multiplier, { model, price, customer });
    if (rank === null || rank < bestRank || !isInForce(multiplier, now)) continue;
    if (best !== null && rank === bestRank && toStart(multiplier) <= toStart(best)) continue;
    best = multiplier;
    bestRank = rank;
  }
  return best === null ? null : readFactor(best);
}

/** How specific it is; `null` if it does not apply. */
function rankMultiplier(
  { plan, account, type, model: modelId }: Multiplier,
  { model, price, customer }: Multiplied & { customer: Customer },
): number | null {
  const isOfCustomer =
    account === undefined ? plan === customer.planId && price.planId === null : account === customer.accountId;
  const isOfModel = (type === undefined || type === model.type) && (modelId === undefined || modelId === model.id);
  if (!isOfCustomer || !isOfModel) return null;
  return (account === undefined ? 0 : 3) + (modelId === undefined ? (type === undefined ? 0 : 1) : 2);
}

function isInForce(multiplier: Multiplier, now: Date): boolean {
  return toStart(multiplier) <= now.getTime() && now.getTime() < toEnd(multiplier);
}

/** When it begins and ends, in milliseconds. */
export function toStart({ effective_at: start }: Multiplier): number {
  return start === undefined ? Number.NEGATIVE_INFINITY : Date.parse(start);
}

export function toEnd({ ends_at: end }: Multiplier): number {
  return end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end);
}

function readFactor({ factor }: Multiplier): Factor {
  const read = parseFactor(factor);
  invariant(read !== null, "an unchecked factor reached the catalog");
  return read;
}
