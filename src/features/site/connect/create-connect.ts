import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import {
  addEntryRoutes,
  addProgramRoutes,
  type EntryDependencies,
  type ProgramDependencies,
} from "./connect-routes.ts";
import { addConsentRoutes, type ConsentDependencies } from "./consent-routes.ts";

export type Connect = {
  /** Where programs begin and ask, under `/connect`; open to everybody. */
  addPages(site: HttpServer): Promise<void>;
  /** What the consent page asks, in the console API. */
  addRoutes(consoleApi: HttpServer): void;
};

/** Connects programs to the accounts of people who say so, through a browser on their own computer or by a code. */
export function createConnect(given: EntryDependencies & ProgramDependencies & ConsentDependencies): Connect {
  return {
    async addPages(site) {
      addEntryRoutes(site, given);
      await addProgramRoutes(site, given);
    },
    addRoutes: (consoleApi) => addConsentRoutes(consoleApi, given),
  };
}
