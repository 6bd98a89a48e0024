import { presentReference, type SecretReader } from "../../../platform/config/secrets.ts";
import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { OperatorError } from "../../../platform/errors/operator-error.ts";
import type { UpstreamFinding } from "../../../providers/examine-upstream.ts";
import type { ProviderDefinition } from "../../../providers/provider-definition.ts";
import { appendAudit } from "../../audit/index.ts";
import { findCatalog, listNamedSecrets } from "../../catalog/index.ts";
import { rollBackSecret, storeSecret } from "../../secrets/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";
import { examineProvider } from "./examine-provider.ts";
import { loadUpstreamSecrets } from "./load-upstream-secrets.ts";
import { findReadyCatalog } from "./ready-catalogs.ts";

type SecretRequest = {
  name: string;
  value: string;
  /** A ready catalog whose provider checks the key, for a vendor that the catalog does not have. */
  vendor: string | null;
  baseUrl: string | null;
  /** Stores it without a check. */
  isUnchecked: boolean;
  reason: string;
  acting: Acting;
};

type Stored = { version: number | null; checks: UpstreamFinding[] };
type SecretDependencies = Pick<
  AdminDependencies,
  "database" | "clock" | "masterKey" | "randomBytes" | "packagesFolder" | "studioFolder"
>;

/** Checks a key with its provider and stores it as a new version. A key that the vendor refuses is not stored. */
export async function storeSecretAsOperator(
  dependencies: SecretDependencies,
  { name, value, vendor, baseUrl, isUnchecked, reason: text, acting }: SecretRequest,
): Promise<Stored> {
  const { database } = dependencies;
  const reason = requireReason(text);
  const checks = isUnchecked ? [] : await checkSecret(dependencies, { name, value, vendor, baseUrl });
  if (checks.some(({ isOk }) => !isOk)) return { version: null, checks };
  const version = await explainFailure(() =>
    inTransaction(database, async (tx) => {
      const request = { name, value, actor: nameActor(acting.actor), acceptsNewKey: false };
      const stored = await storeSecret({ ...dependencies, database: tx }, request);
      await appendAudit(tx, {
        ...{ ...acting, action: "secret.stored", subject: name, accountId: null, reason },
        ...{ before: stored === 1 ? null : { version: stored - 1 }, after: { version: stored, checked: !isUnchecked } },
      });
      return stored;
    }),
  );
  return { version, checks };
}

/** Makes an older version the one in use. */
export async function rollBackSecretAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { name, version, reason: text, acting }: { name: string; version: number | null; reason: string; acting: Acting },
): Promise<number> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    const { from, to } = await rollBackSecret({ database: tx, clock }, { name, version });
    await appendAudit(tx, {
      ...{ ...acting, action: "secret.rolled_back", subject: name, accountId: null, reason },
      ...{ before: { version: from }, after: { version: to } },
    });
    return to;
  });
}

type Checked = Pick<SecretRequest, "name" | "value" | "vendor" | "baseUrl">;

/** With every provider that names it, with this key alone. */
async function checkSecret(dependencies: SecretDependencies, checked: Checked): Promise<UpstreamFinding[]> {
  const { name, value } = checked;
  const reference = presentReference(name);
  const known = await loadUpstreamSecrets(dependencies);
  const pick = (text: string, other: string | null): string | null => (text === reference ? value : other);
  const secrets: SecretReader = {
    // Nothing but the new key is sent to an address that was only typed in.
    find: (text) => pick(text, checked.baseUrl === null ? known.find(text) : null),
    use: (text) => pick(text, checked.baseUrl === null ? known.find(text) : null),
    isUnreadable: (text) => text !== reference && known.isUnreadable(text),
    listSent: (text) => [...(text === reference ? [value] : []), ...known.listSent(text)],
  };
  const { providers, models } = await findProviders(dependencies, checked);
  const findings = [];
  for (const provider of providers) {
    const isKey = provider.api_keys?.includes(reference) === true;
    const alone = isKey ? { ...provider, api_keys: [reference] } : provider;
    findings.push(...(await examineProvider(dependencies, { provider: alone, models, asked: null, secrets })));
  }
  return findings;
}

async function findProviders({ database }: SecretDependencies, { name, vendor, baseUrl }: Checked) {
  if (vendor !== null) {
    const ready = await findReadyCatalog(vendor);
    if (ready === null) {
      throw new AppError("invalid_parameter", `There is no ready catalog ${vendor}.`, { param: "vendor" });
    }
    const { providers, models } = ready.file;
    const named = providers.filter(({ api_keys: keys = [] }) => keys.includes(presentReference(name)));
    return { providers: named.map((provider) => moveProvider(provider, baseUrl)), models };
  }
  const catalog = await findCatalog(database);
  const ids = listNamedSecrets(catalog).get(name) ?? [];
  return { providers: (catalog?.providers ?? []).filter(({ id }) => ids.includes(id)), models: catalog?.models ?? [] };
}

function moveProvider(provider: ProviderDefinition, baseUrl: string | null): ProviderDefinition {
  return baseUrl === null ? provider : { ...provider, base_url: baseUrl };
}

/** The gateway's secret key may differ from the one that sealed the stored secrets. */
async function explainFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperatorError) throw new AppError("invalid_parameter", error.message, { param: "name" });
    throw error;
  }
}
