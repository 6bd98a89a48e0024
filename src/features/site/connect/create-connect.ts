import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { ConnectParts } from "./connect-parts.ts";
import { addEntryRoutes, addProgramRoutes } from "./connect-routes.ts";
import { addConsentRoutes } from "./consent-routes.ts";

export type Connect = {
  /** Where programs begin and ask, under `/connect`; open to everybody. */
  addPages(site: HttpServer): Promise<void>;
  /** What the consent page asks, in the console API. */
  addRoutes(consoleApi: HttpServer): void;
};

/** Connects programs to the accounts of people who say so, through a browser on their own computer or by a code. */
export function createConnect(parts: ConnectParts): Connect {
  return {
    async addPages(site) {
      addEntryRoutes(site, parts);
      await addProgramRoutes(site, parts);
    },
    addRoutes: (consoleApi) => addConsentRoutes(consoleApi, parts),
  };
}
