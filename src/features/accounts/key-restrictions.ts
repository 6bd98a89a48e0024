import { type LimitSet, standardLimits } from "../../lib/limit-set.ts";
import { createNetworkMatcher, isNetwork } from "../../lib/network.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { endpointScopes } from "../../platform/http/endpoint-table.ts";
import type { KeyRestrictions } from "./account.ts";
import { requireLimits } from "./require-valid.ts";

const listItemsMax = 1000;

/** What is outside of accounts and yet decides whether a restriction makes sense. */
export type RestrictionSurroundings = { now: Date; hasModel(modelId: string): boolean };

/** Refuses a restriction that could never mean what it says, naming what is wrong. */
export function requireRestrictions(restrictions: KeyRestrictions, around: RestrictionSurroundings): void {
  requireLimits(restrictions.limits);
  if (restrictions.expiresAt !== null && !(restrictions.expiresAt > around.now)) {
    throw new AppError("invalid_parameter", "A key expires in the future.", { param: "expires_at" });
  }
  requireList("models", restrictions.modelIds, around.hasModel, (id) => `There is no model ${id}.`);
  requireList(
    "endpoints",
    restrictions.endpoints,
    (scope) => (endpointScopes as readonly string[]).includes(scope),
    (scope) => `There is no endpoint ${scope}; there are: ${endpointScopes.join(", ")}.`,
  );
  requireList("addresses", restrictions.addresses, isNetwork, (text) => `${text} is no address or network.`);
}

/** Whether a key could do anything after a change that it could not do before. In doubt it could. */
export function isWidened(before: KeyRestrictions, after: KeyRestrictions): boolean {
  const isIn = before.addresses === null ? () => true : createNetworkMatcher(before.addresses);
  return (
    isListWidened(before.modelIds, after.modelIds) ||
    isListWidened(before.endpoints, after.endpoints) ||
    // A single address is no wider than a network that it lies in.
    isListWidened(before.addresses, after.addresses?.filter((item) => item.includes("/") || !isIn(item)) ?? null) ||
    isBoundWidened(before.expiresAt?.getTime(), after.expiresAt?.getTime()) ||
    isBoundWidened(before.budget?.amount, after.budget?.amount) ||
    (before.budget !== null && before.budget.period !== after.budget?.period) ||
    limitNames.some((name) => isBoundWidened(before.limits[name], after.limits[name]))
  );
}

const limitNames = Object.keys(standardLimits) as (keyof LimitSet)[];

function isListWidened(before: readonly string[] | null, after: readonly string[] | null): boolean {
  return before !== null && (after === null || after.some((item) => !before.includes(item)));
}

function isBoundWidened<T extends number | bigint>(before: T | undefined, after: T | undefined): boolean {
  return before !== undefined && (after === undefined || after > before);
}

function requireList(
  param: string,
  items: readonly string[] | null,
  isValid: (item: string) => boolean,
  describe: (item: string) => string,
): void {
  if (items === null) return;
  if (items.length === 0 || items.length > listItemsMax) {
    throw new AppError("invalid_parameter", `A key is limited to 1 to ${listItemsMax} ${param}.`, { param });
  }
  for (const [index, item] of items.entries()) {
    if (!isValid(item)) throw new AppError("invalid_parameter", describe(item), { param: `${param}[${index}]` });
  }
}
