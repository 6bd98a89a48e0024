import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import {
  addEntryRoutes,
  addProgramRoutes,
  type EntryDependencies,
  type ProgramDependencies,
} from "./connect-routes.ts";
import { addConsentRoutes, type ConsentDependencies } from "./consent-routes.ts";

export type Connect = {
  /** Public endpoints for programs, under `/connect`. */
  addPages(site: HttpServer): Promise<void>;
  /** Endpoints for the consent page, in the console API. */
  addRoutes(consoleApi: HttpServer): void;
};

/** Connects programs to accounts, through a local browser or a device code. */
export function createConnect(given: EntryDependencies & ProgramDependencies & ConsentDependencies): Connect {
  return {
    async addPages(site) {
      addEntryRoutes(site, given);
      await addProgramRoutes(site, given);
    },
    addRoutes: (consoleApi) => addConsentRoutes(consoleApi, given),
  };
}
