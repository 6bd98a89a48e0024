import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { addAccountAdminRoutes } from "./accounts/account-admin-routes.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { addAuditAdminRoutes } from "./audit/audit-admin-routes.ts";
import { addAdminApi } from "./edge/add-admin-api.ts";
import { addAdminKeyRoutes } from "./keys/admin-key-routes.ts";
import { addOperatorRoutes } from "./operators/operator-routes.ts";

export type Admin = {
  /** Adds the operators' API. */
  addRoutes(http: HttpServer): Promise<void>;
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
        addAccountAdminRoutes(adminApi, dependencies);
      }),
    describe: () => read(),
  };
}
