import { useMemo } from "react";
import { nameQueries, paged, whole } from "../../api/define-queries.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import {
  getAccount,
  getIdentity,
  listAccountCharges,
  listAccountKeys,
  listAccounts,
  listAuditEntries,
  listPlans,
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
