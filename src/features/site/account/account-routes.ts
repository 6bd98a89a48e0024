import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { AccountParts } from "./account-parts.ts";
import { addCodeRoutes } from "./code-routes.ts";
import { addInboxRoutes } from "./inbox-routes.ts";
import { addKeyRoutes } from "./key-routes.ts";
import { addProfileRoutes } from "./profile-routes.ts";

/** What somebody who is signed in can see and change of their own account. */
export function addAccountRoutes(consoleApi: HttpServer, parts: AccountParts): void {
  addKeyRoutes(consoleApi, parts);
  addProfileRoutes(consoleApi, parts);
  addCodeRoutes(consoleApi, parts);
  addInboxRoutes(consoleApi, parts);
}
