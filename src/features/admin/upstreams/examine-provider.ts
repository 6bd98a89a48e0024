import type { SecretReader } from "../../../platform/config/secrets.ts";
import { examineUpstream, type TestedModel, type UpstreamFinding } from "../../../providers/examine-upstream.ts";
import type { ProviderDefinition } from "../../../providers/provider-definition.ts";
import { createProviderRegistry } from "../../../providers/provider-registry.ts";
import type { Catalog, CatalogFile } from "../../catalog/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";

type ModelEntry = Pick<Catalog["models"][number] | CatalogFile["models"][number], "id" | "type" | "limits" | "routes">;

type Examined = {
  provider: ProviderDefinition;
  /** Of the catalog, to choose a cheap one from. */
  models: readonly ModelEntry[];
  /** Called whatever it costs less than a cent; `null` for the cheapest check. */
  asked: string | null;
  secrets: SecretReader;
};

const timeoutMs = 15_000;
/** For a model without that limit. */
const dimensionsMaxUsual = 100_000;

/** Calls a provider with each of its keys, with adapters of its own. Charges no account. */
export async function examineProvider(
  { clock, packagesFolder, studioFolder }: Pick<AdminDependencies, "clock" | "packagesFolder" | "studioFolder">,
  { provider, models, asked, secrets }: Examined,
): Promise<UpstreamFinding[]> {
  const registry = createProviderRegistry({ clock, studioFolder, packagesFolder, secrets });
  try {
    await registry.loadAdapters([provider]);
    const model = chooseModel(provider.id, models, asked);
    return await examineUpstream({ provider, model, registry, secrets, packagesFolder, clock, timeoutMs });
  } finally {
    await registry.close();
  }
}

function chooseModel(
  providerId: string,
  models: readonly ModelEntry[],
  asked: string | null,
): (TestedModel & { isAsked: boolean }) | null {
  const routed = models.flatMap(({ id, type, limits, routes = [] }) =>
    routes
      .filter(({ provider }) => provider === providerId)
      .map(({ upstream_model: upstreamModel }) => ({
        ...{ id, upstreamModel, type: type === "chat" || type === "embedding" ? type : null },
        dimensionsMax: limits?.max_dimensions ?? dimensionsMaxUsual,
      })),
  );
  if (asked === null) {
    const cheap = routed.find(({ type }) => type !== null);
    return cheap === undefined ? null : { ...cheap, isAsked: false };
  }
  const named = routed.find(({ id, upstreamModel }) => id === asked || upstreamModel === asked);
  if (named !== undefined) return { ...named, isAsked: true };
  return { upstreamModel: asked, type: "chat", dimensionsMax: dimensionsMaxUsual, isAsked: true };
}
