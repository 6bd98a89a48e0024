import type { SecretReader } from "../../platform/config/secrets.ts";
import { findSetupFault, type SetupFault } from "../../providers/provider-setup.ts";
import { nameTarget, type UpstreamTarget } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { listRouteTargets } from "./route-target.ts";

/** A target that is out of service, the reason, and the models with a route to it. */
export type RouteFault = { target: UpstreamTarget; fault: SetupFault; modelIds: readonly string[] };

/** Lists the targets that cannot be called because of this process's setup: a missing secret or package. */
export function listRouteFaults(
  catalog: Catalog | null,
  { packagesFolder, secrets }: { packagesFolder: string | null; secrets: SecretReader },
): RouteFault[] {
  const { models = [], providers = [] } = catalog ?? {};
  const providerById = new Map(providers.map((provider) => [provider.id, provider]));
  const targets = models.flatMap((model) =>
    listRouteTargets(model, providerById, secrets).map((target) => ({ modelId: model.id, target })),
  );
  return [...Map.groupBy(targets, ({ target }) => nameTarget(target)).values()].flatMap((same) => {
    const [first] = same;
    const fault = first === undefined ? null : findSetupFault(first.target, packagesFolder);
    if (first === undefined || fault === null) return [];
    const { providerId, upstreamModel, keyNumber } = first.target;
    const modelIds = [...new Set(same.map(({ modelId }) => modelId))];
    return [{ target: { providerId, upstreamModel, keyNumber }, fault, modelIds }];
  });
}
