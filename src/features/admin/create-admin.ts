import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { findCatalog, pollVendorBalances } from "../catalog/index.ts";
import { addAccountAdminRoutes } from "./accounts/account-admin-routes.ts";
import { addSupportRoutes } from "./accounts/support-routes.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { addAuditAdminRoutes } from "./audit/audit-admin-routes.ts";
import { addAuditExportRoutes } from "./audit/audit-export-routes.ts";
import { applyScheduledCatalogs } from "./catalog/apply-scheduled-catalogs.ts";
import { addCatalogAdminRoutes } from "./catalog/catalog-admin-routes.ts";
import { addScheduleRoutes } from "./catalog/schedule-routes.ts";
import { addCommandRoutes } from "./commands/command-routes.ts";
import { addAdminApi } from "./edge/add-admin-api.ts";
import { addAdminKeyRoutes } from "./keys/admin-key-routes.ts";
import { addBookAdminRoutes } from "./money/book-admin-routes.ts";
import { addCodeAdminRoutes } from "./money/code-admin-routes.ts";
import { addDocumentAdminRoutes } from "./money/document-admin-routes.ts";
import { addLedgerAdminRoutes } from "./money/ledger-admin-routes.ts";
import { addPaymentAdminRoutes } from "./money/payment-admin-routes.ts";
import { addOperatorRoutes } from "./operators/operator-routes.ts";
import { eraseLateRows } from "./people/erase-person.ts";
import { addPersonRoutes } from "./people/person-routes.ts";
import { addRequestAdminRoutes } from "./requests/request-admin-routes.ts";
import { addAdminSearchRoutes } from "./search/admin-search-routes.ts";
import { addSetupRoutes } from "./setup/setup-routes.ts";
import { addTodayRoutes } from "./today/today-routes.ts";
import { loadUpstreamSecrets } from "./upstreams/load-upstream-secrets.ts";
import { addSecretRoutes } from "./upstreams/secret-routes.ts";
import { addUpstreamAdminRoutes } from "./upstreams/upstream-admin-routes.ts";
import { sweepViews } from "./views/view-account.ts";
import { addViewRoutes } from "./views/view-routes.ts";
import { addAbuseAdminRoutes } from "./watch/abuse-admin-routes.ts";
import { addAlarmAdminRoutes } from "./watch/alarm-admin-routes.ts";
import { addIncidentAdminRoutes } from "./watch/incident-admin-routes.ts";
import { addWorkAdminRoutes } from "./work/work-admin-routes.ts";

export type Admin = {
  /** Adds the operators' API. */
  addRoutes(http: HttpServer): Promise<void>;
  /** Applies the scheduled changes of the catalog that are due. */
  applyScheduledCatalogs(): Promise<void>;
  /** Asks vendors for the balances of our accounts, if it is time. */
  pollVendorBalances(signal: AbortSignal): Promise<void>;
  /** Records the end of views of accounts that are over. */
  sweepViews(): Promise<void>;
  /** Deletes what running calls wrote after the erasure of their account. */
  eraseLateRows(): Promise<void>;
  /** Its OpenAPI document, once the routes are added. */
  describe(): object;
};

export function createAdmin(dependencies: AdminDependencies): Admin {
  let read = (): object => ({});
  return {
    addRoutes: (http) =>
      addAdminApi(http, dependencies, (adminApi) => {
        read = () => adminApi.adminSwagger();
        addOperatorRoutes(adminApi, dependencies);
        addAdminKeyRoutes(adminApi, dependencies);
        addAuditAdminRoutes(adminApi, dependencies);
        addAuditExportRoutes(adminApi, dependencies);
        addAccountAdminRoutes(adminApi, dependencies);
        addUpstreamAdminRoutes(adminApi, dependencies);
        addSecretRoutes(adminApi, dependencies);
        addCatalogAdminRoutes(adminApi, dependencies);
        addScheduleRoutes(adminApi, dependencies);
        addSetupRoutes(adminApi, dependencies);
        addSupportRoutes(adminApi, dependencies);
        addViewRoutes(adminApi, dependencies);
        addPersonRoutes(adminApi, dependencies);
        addTodayRoutes(adminApi, dependencies);
        addPaymentAdminRoutes(adminApi, dependencies);
        addLedgerAdminRoutes(adminApi, dependencies);
        addCodeAdminRoutes(adminApi, dependencies);
        addDocumentAdminRoutes(adminApi, dependencies);
        addBookAdminRoutes(adminApi, dependencies);
        addWorkAdminRoutes(adminApi, dependencies);
        addRequestAdminRoutes(adminApi, dependencies);
        addAdminSearchRoutes(adminApi, dependencies);
        addCommandRoutes(adminApi, dependencies);
        addAlarmAdminRoutes(adminApi, dependencies);
        addIncidentAdminRoutes(adminApi, dependencies);
        addAbuseAdminRoutes(adminApi, dependencies);
      }),
    applyScheduledCatalogs: () => applyScheduledCatalogs(dependencies),
    async pollVendorBalances(signal) {
      const { database, clock } = dependencies;
      const [catalog, secrets] = await Promise.all([findCatalog(database), loadUpstreamSecrets(dependencies)]);
      await pollVendorBalances({ database, clock, secrets, providers: catalog?.providers ?? [], signal });
    },
    sweepViews: () => sweepViews(dependencies),
    eraseLateRows: () => eraseLateRows(dependencies),
    describe: () => read(),
  };
}
