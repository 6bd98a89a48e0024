import { isNetwork } from "../../lib/network.ts";
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
