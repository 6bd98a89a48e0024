import { useMemo } from "react";
import { nameQueries, paged, whole } from "../../api/define-queries.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import {
  getAccount,
  getCatalog,
  getCatalogVersion,
  getIdentity,
  getPayment,
  getRequest,
  getSetup,
  getStorageTotal,
  getTask,
  getToday,
  listAccountCharges,
  listAccountKeys,
  listAccountNotes,
  listAccounts,
  listAdminKeys,
  listAuditEntries,
  listCatalogVersions,
  listCodeBatches,
  listCodes,
  listCreditEntries,
  listDeliveries,
  listDocuments,
  listFrozenAccounts,
  listMargins,
  listOperators,
  listPayments,
  listPlans,
  listQueues,
  listRequests,
  listRevenue,
  listReversals,
  listScheduledCatalogs,
  listSecrets,
  listStorage,
  listTasks,
  listUpstreamEvents,
  listUpstreams,
  listVendors,
  listVerifications,
  searchEverything,
} from "./fetch-admin.ts";
import {
  getAlarm,
  listAlarmRules,
  listAlarms,
  listBlocks,
  listIncidents,
  listSignUps,
  sumSignUps,
} from "./fetch-watch.ts";

/** Every query of the operators' pages, by subject and name. The subjects differ from those of the console's own queries. */
export const adminQueries = nameQueries({
  adminIdentity: { now: whole(getIdentity, { staleTime: 60_000 }) },
  adminAccounts: {
    list: paged(listAccounts),
    one: whole(getAccount),
    keys: paged(listAccountKeys),
    charges: paged(listAccountCharges),
    notes: paged(listAccountNotes),
  },
  adminSetup: { steps: whole(getSetup) },
  adminUpstreams: {
    list: whole(listUpstreams, { refetchInterval: 10_000 }),
    events: paged(listUpstreamEvents),
    secrets: whole(listSecrets),
    vendors: whole(listVendors, { staleTime: 600_000 }),
  },
  adminCatalog: {
    active: whole(getCatalog, { staleTime: 60_000 }),
    version: whole(getCatalogVersion),
    versions: paged(listCatalogVersions),
    schedules: paged(listScheduledCatalogs),
  },
  adminRequests: { list: paged(listRequests), one: whole(getRequest) },
  adminSearch: { found: whole(searchEverything, { staleTime: 10_000 }) },
  adminAlarms: { list: paged(listAlarms), one: whole(getAlarm), rules: whole(listAlarmRules) },
  adminIncidents: { list: paged(listIncidents) },
  adminSignUps: { list: paged(listSignUps), sums: whole(sumSignUps) },
  adminBlocks: { list: paged(listBlocks) },
  adminPlans: { list: whole(listPlans, { staleTime: 60_000 }) },
  adminToday: { day: whole(getToday, { refetchInterval: 60_000 }) },
  adminMoney: {
    payments: paged(listPayments),
    documents: paged(listDocuments),
    payment: whole(getPayment),
    reversals: paged(listReversals),
    entries: paged(listCreditEntries),
    revenue: whole(listRevenue),
    margins: whole(listMargins),
    batches: paged(listCodeBatches),
    codes: paged(listCodes),
    frozen: paged(listFrozenAccounts),
    verifications: paged(listVerifications),
  },
  adminWork: {
    tasks: paged(listTasks),
    task: whole(getTask),
    deliveries: paged(listDeliveries),
    queues: whole(listQueues, { refetchInterval: 15_000 }),
    storage: paged(listStorage),
    storageTotal: whole(getStorageTotal),
  },
  adminOperators: { list: whole(listOperators) },
  adminKeys: { list: paged(listAdminKeys) },
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
