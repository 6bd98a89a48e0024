import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { addCodeRoutes } from "./code-routes.ts";
import { addFirstCallRoutes } from "./first-call-routes.ts";
import { addInboxRoutes } from "./inbox-routes.ts";
import { addKeyRoutes } from "./key-routes.ts";
import type { OwnKeyDependencies } from "./make-own-key.ts";
import { addProfileRoutes } from "./profile-routes.ts";
import type { RedeemDependencies } from "./redeem-own-code.ts";

export function addAccountRoutes(consoleApi: HttpServer, given: OwnKeyDependencies & RedeemDependencies): void {
  addKeyRoutes(consoleApi, given);
  addProfileRoutes(consoleApi, given);
  addCodeRoutes(consoleApi, given);
  addInboxRoutes(consoleApi, given);
  addFirstCallRoutes(consoleApi, given);
}
