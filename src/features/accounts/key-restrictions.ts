import { type LimitSet, standardLimits } from "../../lib/limit-set.ts";
import { createNetworkMatcher, isNetwork } from "../../lib/network.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { endpointScopes } from "../../platform/http/endpoint-table.ts";
import type { KeyRestrictions } from "./account.ts";
import { requireLimits } from "./require-valid.ts";

const listItemsMax = 1000;

/** Throws on a restriction that can never take effect, such as an unknown model. */
export function requireRestrictions(
  restrictions: KeyRestrictions,
  { now, hasModel }: { now: Date; hasModel(modelId: string): boolean },
): void {
  requireLimits(restrictions.limits);
  if (restrictions.expiresAt !== null && !(restrictions.expiresAt > now)) {
    throw new AppError("invalid_parameter", "`expires_at` must be in the future.", { param: "expires_at" });
  }
  requireList("models", restrictions.modelIds, hasModel, (id) => `There is no model ${id}.`);
  requireList(
    "endpoints",
    restrictions.endpoints,
    (scope) => (endpointScopes as readonly string[]).includes(scope),
    (scope) => `There is no endpoint ${scope}. Use ${endpointScopes.join(", ")}.`,
  );
  requireList("addresses", restrictions.addresses, isNetwork, (text) => `${text} is not an IP address or network.`);
}

/** Whether a change may permit anything new. Returns `true` when in doubt. */
export function isWidened(before: KeyRestrictions, after: KeyRestrictions): boolean {
  const isIn = before.addresses === null ? () => true : createNetworkMatcher(before.addresses);
  return (
    isListWidened(before.modelIds, after.modelIds) ||
    isListWidened(before.endpoints, after.endpoints) ||
    // A single address inside an allowed network permits nothing new.
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
    throw new AppError("invalid_parameter", `\`${param}\` must have 1 to ${listItemsMax} items.`, { param });
  }
  for (const [index, item] of items.entries()) {
    if (!isValid(item)) throw new AppError("invalid_parameter", describe(item), { param: `${param}[${index}]` });
  }
}
