import { hashText } from "../../lib/text-hash.ts";
import type { SecretReader } from "../../platform/config/secrets.ts";
import type { UpstreamHeaders } from "../../platform/net/upstream-call.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import { createRoutePaces, type RoutePace } from "../../providers/route-pace.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";
import { compileCostSheet } from "./cost-sheet.ts";
import type { Model, Route } from "./model.ts";
import { findHighestRate, type Price } from "./price.ts";

/** A route with one of its provider's keys: the destination of a single call. */
export type RouteTarget = UpstreamTarget & {
  route: Route;
  provider: ProviderDefinition;
  /** A reference to a secret, `${LIKE_THIS}`. */
  apiKeyReference: string | null;
  secrets: SecretReader;
  /** A stable hash of this target, independent of the others. */
  placeHash: number;
  /** What the upstream charges, if the operator has stated it. */
  costSheet?: Price;
  /** Only for models with a routing policy. */
  pace?: RoutePace;
  /** The last response's headers, until their rate limits are written, and when its request was sent. */
  lastHead?: { headers: UpstreamHeaders | null; atMs: number };
};

/** Every target of a model. A provider without keys has one target per route. */
export function listRouteTargets(
  model: Model,
  providers: ReadonlyMap<string, ProviderDefinition>,
  secrets: SecretReader,
): RouteTarget[] {
  const targets = model.routes.flatMap((route) => {
    const provider = providers.get(route.provider);
    if (provider === undefined) return [];
    const costSheet = compileCostSheet(model.id, route);
    return (provider.api_keys ?? [null]).map((apiKeyReference, keyNumber) => ({
      providerId: provider.id,
      upstreamModel: route.upstream_model,
      keyNumber,
      route,
      provider,
      apiKeyReference,
      secrets,
      ...(costSheet === null ? {} : { costSheet }),
      lastHead: { headers: null, atMs: 0 },
      placeHash: hashText(JSON.stringify([provider.id, route.upstream_model, apiKeyReference])),
    }));
  });
  if (model.policy === undefined) return targets;
  const paces = createRoutePaces(
    model.policy,
    targets.map(({ route: { cost }, costSheet }) => (cost === undefined ? findUsualCost(costSheet) : Number(cost))),
  );
  return targets.map((target, index) => ({ ...target, ...(paces[index] === undefined ? {} : { pace: paces[index] }) }));
}

/** A number to compare routes by: what a thousand tokens of input and of output cost together, or the highest rate. */
function findUsualCost(sheet: Price | undefined): number | null {
  if (sheet === undefined) return null;
  const { amounts, terms } = sheet;
  if (amounts.billingType !== "token") return Number(findHighestRate(terms.items, terms.unit));
  return Number(amounts.inputPrice + amounts.outputPrice);
}
