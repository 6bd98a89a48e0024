import { useMemo } from "react";
import { nameQueries, paged, whole } from "../../api/define-queries.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import {
  getAccount,
  getCatalog,
  getCatalogVersion,
  getIdentity,
  getSetup,
  listAccountCharges,
  listAccountKeys,
  listAccounts,
  listAuditEntries,
  listCatalogVersions,
  listPlans,
  listScheduledCatalogs,
  listSecrets,
  listUpstreamEvents,
  listUpstreams,
  listVendors,
} from "./fetch-admin.ts";

/** Every query of the operators' pages, by subject and name. The subjects differ from those of the console's own queries. */
export const adminQueries = nameQueries({
  adminIdentity: { now: whole(getIdentity, { staleTime: 60_000 }) },
  adminAccounts: {
    list: paged(listAccounts),
    one: whole(getAccount),
    keys: paged(listAccountKeys),
    charges: paged(listAccountCharges),
  },
  adminSetup: { steps: whole(getSetup) },
  adminUpstreams: {
    list: whole(listUpstreams, { refetchInterval: 10_000 }),
    events: whole(listUpstreamEvents),
    secrets: whole(listSecrets),
    vendors: whole(listVendors, { staleTime: 600_000 }),
  },
  adminCatalog: {
    active: whole(getCatalog, { staleTime: 60_000 }),
    version: whole(getCatalogVersion),
    versions: paged(listCatalogVersions),
    schedules: paged(listScheduledCatalogs),
  },
  adminPlans: { list: whole(listPlans, { staleTime: 60_000 }) },
  adminAudit: { list: paged(listAuditEntries) },
});

type Subject = keyof typeof adminQueries;

/** Invalidates all queries of the subjects. Every change also adds to the audit log. */
export function useAdminRefresh(): (...subjects: readonly Subject[]) => Promise<void> {
  const answers = useQueryCache();
  return useMemo(
    () =>
      (...subjects) =>
        answers.refresh(...subjects, "adminAudit"),
    [answers],
  );
}
