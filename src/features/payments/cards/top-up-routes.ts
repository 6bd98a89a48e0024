import type { Clock } from "../../../lib/clock.ts";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { consoleErrors, getFreshSession, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { OwnActor } from "../../audit/index.ts";
import { readTopUp, switchTopUpOff, type TopUpTerms } from "./change-top-up.ts";
import { presentTopUp, topUpSchema, topUpTermsSchema } from "./top-up-schema.ts";

export type TopUpRouteDependencies = {
  database: Database;
  clock: Clock;
  currency: string;
  /** Both throw if card payments aren't enabled. */
  switchTopUpOn(request: { owner: OwnActor; terms: TopUpTerms }): Promise<void>;
  removeCard(owner: OwnActor): Promise<void>;
};

const tags = ["Payments"];

export function addTopUpRoutes(http: HttpServer, dependencies: TopUpRouteDependencies): void {
  const { database, clock, currency, switchTopUpOn, removeCard } = dependencies;

  async function present(accountId: AccountId) {
    const now = clock.now();
    return presentTopUp(await readTopUp(database, accountId, now), { currency, now });
  }

  http.get(
    "/auto_top_up",
    {
      schema: {
        operationId: "getAutoTopUp",
        summary: "Get automatic top-up and the saved card",
        tags,
        response: { 200: topUpSchema, ...consoleErrors("GET") },
      },
    },
    (request) => present(getSession(request).accountId),
  );
  http.post(
    "/auto_top_up",
    {
      schema: {
        operationId: "switchAutoTopUpOn",
        summary: "Switch automatic top-up on, or change it",
        description: `Charges your saved card when your available balance falls below the threshold, within about a minute. A
declined card, and a refunded or disputed payment, switch it off. Requires a recent authentication.`,
        tags,
        body: topUpTermsSchema,
        response: {
          200: topUpSchema,
          ...consoleErrors("POST", ["reauthentication_required", "endpoint_not_released"]),
        },
      },
    },
    async (request) => {
      const owner = getFreshSession(request, clock.now());
      await switchTopUpOn({ owner, terms: request.body });
      return await present(owner.accountId);
    },
  );
  http.delete(
    "/auto_top_up",
    {
      schema: {
        operationId: "switchAutoTopUpOff",
        summary: "Switch automatic top-up off",
        tags,
        response: { 200: topUpSchema, ...consoleErrors("DELETE") },
      },
    },
    async (request) => {
      const owner = getSession(request);
      await switchTopUpOff(database, owner, clock.now());
      return await present(owner.accountId);
    },
  );
  http.delete(
    "/saved_card",
    {
      schema: {
        operationId: "removeSavedCard",
        summary: "Remove the saved card",
        description: "Also switches automatic top-up off.",
        tags,
        response: { 200: topUpSchema, ...consoleErrors("DELETE", ["not_found", "endpoint_not_released"]) },
      },
    },
    async (request) => {
      const owner = getSession(request);
      await removeCard(owner);
      return await present(owner.accountId);
    },
  );
}
