import { Type } from "typebox";
import type { HttpServer } from "../platform/http/create-http-server.ts";

/** For load balancers and supervisors: `/healthz` says that the process lives, `/readyz` that it can serve. */
export function addHealthRoutes(http: HttpServer, parts: { checkDatabase(): Promise<void> }): void {
  const schema = { hide: true, response: { 200: Type.Object({ status: Type.String() }) } };
  http.get("/healthz", { schema }, async () => ({ status: "ok" }));
  http.get("/readyz", { schema }, async () => {
    await parts.checkDatabase();
    return { status: "ok" };
  });
}
