import { hashText } from "../../lib/text-hash.ts";
import type { SecretReader } from "../../platform/config/secrets.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";
import type { Model, Route } from "./model.ts";

/** A route with one of its provider's keys: the destination of a single call. */
export type RouteTarget = UpstreamTarget & {
  route: Route;
  provider: ProviderDefinition;
  /** A reference to a secret, `${LIKE_THIS}`. */
  apiKeyReference: string | null;
  secrets: SecretReader;
  /** A stable hash of this target, independent of the others. */
  placeHash: number;
};

/** Every target of a model. A provider without keys has one target per route. */
export function listRouteTargets(
  model: Model,
  providers: ReadonlyMap<string, ProviderDefinition>,
  secrets: SecretReader,
): RouteTarget[] {
  return model.routes.flatMap((route) => {
    const provider = providers.get(route.provider);
    if (provider === undefined) return [];
    return (provider.api_keys ?? [null]).map((apiKeyReference, keyNumber) => ({
      providerId: provider.id,
      upstreamModel: route.upstream_model,
      keyNumber,
      route,
      provider,
      apiKeyReference,
      secrets,
      placeHash: hashText(JSON.stringify([provider.id, route.upstream_model, apiKeyReference])),
    }));
  });
}
