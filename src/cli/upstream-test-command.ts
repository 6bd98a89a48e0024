import { join } from "node:path";
import { type Catalog, findCatalog, recordUpstreamTest } from "../features/catalog/index.ts";
import { findNearest } from "../lib/nearest-word.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { examineUpstream, type TestedModel, type UpstreamFinding } from "../providers/examine-upstream.ts";
import { isMediaKind, type ProviderDefinition } from "../providers/provider-definition.ts";
import { createProviderRegistry } from "../providers/provider-registry.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { loadSecrets } from "./load-secrets.ts";
import { createWrongValue } from "./option-values.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const secondsUsual = 20;
const secondsMax = 600;
/** For a model without that limit. */
const dimensionsMaxUsual = 100_000;

export const testCommand: Command = {
  name: "upstream test",
  summary:
    "Call a provider with each of its keys and show what works: DNS, TLS, key, model. Charges no account; may cost a fraction of a cent at the vendor.",
  positionals: ["provider"],
  options: {
    model: {
      placeholder: "name",
      description:
        "Also call this model, by the catalog's or the vendor's name: 16 tokens of chat, or one word as an embedding.",
    },
    timeout: { placeholder: "seconds", description: `How long to wait for each answer. Default: ${secondsUsual}.` },
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const timeoutMs = readSeconds(options.timeout) * 1000;
      const catalog = await findCatalog(database);
      const provider = getProvider(catalog, id);
      const { clock } = systemDependencies;
      const secrets = await loadSecrets(database, settings);
      const packagesFolder = settings.packages_dir;
      const studioFolder = join(settings.data_dir, "studio");
      const registry = createProviderRegistry({ clock, studioFolder, packagesFolder, secrets });
      try {
        await registry.loadAdapters([provider]);
        const model = chooseModel(catalog, provider, options.model);
        const examined = { provider, model, registry, secrets, packagesFolder, clock, timeoutMs };
        const findings = await examineUpstream(examined);
        await recordUpstreamTest(database, { providerId: id, findings, actor: getActor(), at: clock.now() });
        return presentFindings(id, findings);
      } finally {
        await registry.close();
      }
    }),
};

function getProvider(catalog: Catalog | null, id: string): ProviderDefinition {
  const providers = catalog?.providers ?? [];
  const provider = providers.find((one) => one.id === id);
  if (provider !== undefined) return provider;
  const known = providers.map((one) => one.id);
  const nearest = findNearest(id, known);
  throw new OperatorError(
    `The catalog has no provider ${id}.`,
    nearest === null ? `Its providers: ${known.join(", ") || "none"}.` : `Did you mean ${nearest}?`,
  );
}

/** The named model, else the first that costs little. A name that the catalog does not have is a vendor's chat model. */
function chooseModel(
  catalog: Catalog | null,
  provider: ProviderDefinition,
  name: string | undefined,
): (TestedModel & { isAsked: boolean }) | null {
  const routed = (catalog?.models ?? []).flatMap((model) =>
    model.routes
      .filter((route) => route.provider === provider.id)
      .map((route) => ({
        modelId: model.id,
        upstreamModel: route.upstream_model,
        type: model.type === "chat" || model.type === "embedding" ? model.type : null,
        dimensionsMax: model.limits.max_dimensions ?? dimensionsMaxUsual,
      })),
  );
  if (name === undefined) {
    const cheap = routed.find(({ type }) => type !== null);
    return cheap === undefined ? null : { ...cheap, isAsked: false };
  }
  const named = routed.find(({ modelId, upstreamModel }) => modelId === name || upstreamModel === name);
  if (named !== undefined) return { ...named, isAsked: true };
  if (isMediaKind(provider.kind))
    throw new AppError("invalid_parameter", `${provider.kind} has no chat models: test it without --model.`);
  return { upstreamModel: name, type: "chat", dimensionsMax: dimensionsMaxUsual, isAsked: true };
}

function readSeconds(text: string | undefined): number {
  if (text === undefined) return secondsUsual;
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= secondsMax) return seconds;
  throw createWrongValue("timeout", `a whole number of seconds from 1 to ${secondsMax}`);
}

function presentFindings(id: string, findings: readonly UpstreamFinding[]) {
  const failed = findings.filter(({ isOk }) => !isOk);
  const lines = findings.map(({ check, isOk, message, remedy }) => {
    const line = `${isOk ? "✓" : "✗"} ${check.padEnd(12)}${message}`;
    return remedy === undefined ? line : `${line}\n  ${"".padEnd(12)}${remedy}`;
  });
  const verdict = failed.length === 0 ? `${id} works.` : `${id} does not work.`;
  return {
    json: {
      ...{ provider: id, ok: failed.length === 0 },
      checks: findings.map(({ check, isOk, message, remedy = null }) => ({ check, ok: isOk, message, remedy })),
    },
    text: `${lines.join("\n")}\n\n${verdict}`,
    ...(failed.length === 0 ? {} : { hasFailed: true as const }),
  };
}
