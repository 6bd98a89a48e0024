import type { SecretReader } from "../../platform/config/secrets.ts";
import { findSetupFault, type SetupFault } from "../../providers/provider-setup.ts";
import { nameTarget, type UpstreamTarget } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { listRouteTargets } from "./route-target.ts";
import { describeSwitch, findSwitch, type UpstreamSwitch } from "./upstream-switch.ts";

/** A target that is out of service, the reason, and the models with a route to it. */
export type RouteFault = { target: UpstreamTarget; fault: SetupFault; modelIds: readonly string[] };

/** What decides whether a target is in service. */
type ServiceSetup = {
  packagesFolder: string | null;
  secrets: SecretReader;
  /** Those in force. */
  switches?: readonly UpstreamSwitch[];
};

/** Lists the targets that lack a secret or package in this process, or that an operator switched off. */
export function listRouteFaults(
  catalog: Catalog | null,
  { packagesFolder, secrets, switches = [] }: ServiceSetup,
): RouteFault[] {
  const { models = [], providers = [] } = catalog ?? {};
  const providerById = new Map(providers.map((provider) => [provider.id, provider]));
  const targets = models.flatMap((model) =>
    listRouteTargets(model, providerById, secrets).map((target) => ({ modelId: model.id, target })),
  );
  return [...Map.groupBy(targets, ({ target }) => nameTarget(target)).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const off = findSwitch(first.target, switches);
    const fault = findSetupFault(first.target, packagesFolder) ?? (off === null ? null : describeSwitch(off));
    if (fault === null) return [];
    const { providerId, upstreamModel, keyNumber } = first.target;
    const modelIds = [...new Set(same.map(({ modelId }) => modelId))];
    return [{ target: { providerId, upstreamModel, keyNumber }, fault, modelIds }];
  });
}
