import { presentReference } from "../../../platform/config/secrets.ts";
import { findPackageFault } from "../../../providers/ai-sdk/load-package.ts";
import { listPlans } from "../../accounts/index.ts";
import type { CatalogSurroundings } from "../../catalog/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { loadUpstreamSecrets } from "../upstreams/load-upstream-secrets.ts";
import { listKnownAccounts } from "./catalog-admin-store.ts";

export type CatalogDependencies = Pick<
  AdminDependencies,
  "database" | "clock" | "ids" | "currency" | "masterKey" | "packagesFolder"
>;

/** What a catalog file is checked against. Of the accounts only those that the file names. */
export async function gatherSurroundings(
  dependencies: CatalogDependencies,
  source: string,
): Promise<CatalogSurroundings> {
  const { database, currency, packagesFolder } = dependencies;
  const named = [...new Set(source.match(/\bacct_[0-9a-z]{1,64}\b/g))];
  // One after the other: a transaction has one connection.
  const plans = await listPlans(database);
  const accountIds = await listKnownAccounts(database, named);
  const secrets = await loadUpstreamSecrets(dependencies);
  return {
    ...{ currency, accountIds, planIds: new Set(plans.map(({ id }) => id)) },
    hasSecret: (name) => secrets.find(presentReference(name)) !== null,
    findPackageFault: (packageName) => findPackageFault({ packageName, packagesFolder }),
  };
}
