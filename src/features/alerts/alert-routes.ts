import { type Static, Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import { type Nano, parseMoney, presentMoney } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { consoleErrors, getSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { type Alerts, findAlerts, putAlerts } from "./alert-store.ts";

const tags = ["Payments"];

const lowBalance = Type.Union([Type.String({ maxLength: 32, examples: ["5.00"] }), Type.Null()], {
  description: "Mail when the balance falls below this amount, once per crossing. Counts money on hold.",
});
const budgetPercent = Type.Union([Type.Integer({ minimum: 1, maximum: 100, examples: [80] }), Type.Null()], {
  description: "Mail when a key has spent this percentage of its budget, once per period.",
});

const alertsSchema = Type.Object({
  object: Type.Literal("alerts"),
  low_balance: lowBalance,
  budget_percent: budgetPercent,
  currency: Type.String(),
});

const alertChangeSchema = Type.Object(
  { low_balance: Type.Optional(lowBalance), budget_percent: Type.Optional(budgetPercent) },
  { additionalProperties: false, minProperties: 1 },
);

export function addAlertRoutes(
  http: HttpServer,
  { database, clock, currency }: { database: Database; clock: Clock; currency: string },
): void {
  http.get(
    "/alerts",
    {
      schema: {
        operationId: "getAlerts",
        summary: "Get the mail alerts",
        tags,
        response: { 200: alertsSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => presentAlerts(await findAlerts(database, getSession(request).accountId), currency),
  );
  http.patch(
    "/alerts",
    {
      schema: {
        operationId: "updateAlerts",
        summary: "Change the mail alerts",
        description:
          "Mails go to the account's address, at most one about the balance per hour. `null` switches one off.",
        tags,
        body: alertChangeSchema,
        response: { 200: alertsSchema, ...consoleErrors("PATCH") },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const { low_balance: text, budget_percent: percent } = request.body;
      const changes: Partial<Alerts> = {
        ...(text === undefined ? {} : { lowBalance: text === null ? null : parseThreshold(text) }),
        ...(percent === undefined ? {} : { budgetPercent: percent }),
      };
      await putAlerts(database, accountId, { changes, now: clock.now() });
      return presentAlerts(await findAlerts(database, accountId), currency);
    },
  );
}

function parseThreshold(text: string): Nano {
  const amount = parseMoney(text);
  if (amount !== null && amount > 0n) return amount;
  throw new AppError("invalid_parameter", "`low_balance` must be a positive number, such as 5.00.", {
    param: "low_balance",
  });
}

function presentAlerts(
  { lowBalance: low, budgetPercent: percent }: Alerts,
  currency: string,
): Static<typeof alertsSchema> {
  return {
    object: "alerts",
    low_balance: low === null ? null : presentMoney(low),
    budget_percent: percent,
    currency,
  };
}
