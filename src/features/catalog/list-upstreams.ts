import type { Clock } from "../../lib/clock.ts";
import { environmentSecrets } from "../../platform/config/secrets.ts";
import type { Database } from "../../platform/database/database.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";
import { findCatalog } from "./catalog-store.ts";
import { silentNodeMs } from "./publish-health.ts";
import { listRouteTargets } from "./route-target.ts";
import { listActiveSwitches } from "./switch-upstream.ts";
import { listReportedHealth, type ReportedHealth } from "./upstream-health-store.ts";
import { findSwitch, type UpstreamSwitch } from "./upstream-switch.ts";

/** One upstream model with one key, the catalog models it serves, and the health that gateways report. */
export type Upstream = UpstreamTarget & {
  kind: string;
  /** The name of its secret; `null` for an upstream that needs no key. */
  apiKeyReference: string | null;
  modelIds: string[];
  taskLimits: Pick<ProviderDefinition, "tasks_max" | "tasks_per_minute" | "task_limits_per">;
  /** Set if an operator took it out of service. */
  off: UpstreamSwitch | null;
  /** One report from each gateway that has trouble with it; empty if it is healthy. */
  reports: ReportedHealth[];
};

export async function listUpstreams({ database, clock }: { database: Database; clock: Clock }): Promise<Upstream[]> {
  const catalog = await findCatalog(database);
  if (catalog === null) return [];
  const reports = await listReportedHealth(database, new Date(clock.now().getTime() - silentNodeMs));
  const switches = await listActiveSwitches({ database, clock });
  const providerById = new Map(catalog.providers.map((provider) => [provider.id, provider]));
  const upstreams = new Map<string, Upstream>();
  for (const model of catalog.models) {
    for (const { providerId, upstreamModel, keyNumber, provider, apiKeyReference } of listRouteTargets(
      model,
      providerById,
      environmentSecrets,
    )) {
      const name = JSON.stringify([providerId, upstreamModel, keyNumber]);
      const known = upstreams.get(name) ?? {
        ...{ providerId, upstreamModel, keyNumber, kind: provider.kind, apiKeyReference, modelIds: [] },
        taskLimits: provider,
        off: findSwitch({ providerId, upstreamModel, apiKeyReference }, switches),
        reports: reports.filter(
          (report) =>
            report.providerId === providerId &&
            (report.upstreamModel ?? upstreamModel) === upstreamModel &&
            report.keyNumber === keyNumber,
        ),
      };
      known.modelIds.push(model.id);
      upstreams.set(name, known);
    }
  }
  return [...upstreams.values()];
}
