import { type Static, Type } from "typebox";
import { presentLeastId } from "../../../lib/ids.ts";
import { nano, presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { listAlarms } from "../../alarms/index.ts";
import { type MoneySums, noMoney, sumMoneyBetween } from "../../costs/index.ts";
import { sumPeriod } from "../../status/index.ts";
import { countProviderTasks, readTaskLag } from "../../tasks/index.ts";
import { findDay, findDayStart, moneySchema } from "../../usage/index.ts";
import { readDeliveryLag } from "../../webhooks/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { sumLiability } from "../money/money-admin-store.ts";
import { readOperatorZone } from "./operator-zone.ts";
import { countActiveAccounts, countNewAccounts } from "./today-store.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const money = moneySchema("In the service's currency.");

const daySchema = Type.Object({
  from: time,
  to: time,
  revenue: money,
  cost: money,
  margin: money,
  calls: Type.Integer(),
  calls_without_cost: Type.Integer(),
  errors: Type.Union([Type.Integer(), Type.Null()], {
    description: "Requests that failed on our side. `null`: counted for three days only.",
  }),
  requests: Type.Union([Type.Integer(), Type.Null()], { description: "All requests, also free and rejected ones." }),
  money_in: Type.String({ description: "Credit that customers bought." }),
  credit_given: money,
  refunds: money,
  reversed: Type.String({ description: "Credit of refunded and disputed payments that was taken back." }),
  active_accounts: Type.Integer({ description: "Accounts that were charged." }),
  new_accounts: Type.Integer(),
});

const todaySchema = Type.Object({
  object: Type.Literal("today"),
  day: Type.String({ examples: ["2027-01-31"] }),
  time_zone: Type.String(),
  currency: Type.String(),
  current: daySchema,
  previous: Type.Object(daySchema.properties, { description: "The whole day before." }),
  firing_alarms: Type.Integer({ description: "Counted up to 100." }),
  liability: Type.String({ description: "What all customers have now: the credit that is not yet earned." }),
  owed: Type.String({ description: "What customers owe for reversed payments now." }),
  queues: Type.Object({
    queued_tasks: Type.Integer(),
    processing_tasks: Type.Integer(),
    waiting_tasks: Type.Integer({ description: "Of the queued ones, those that wait for a full upstream." }),
    oldest_queued_at: maybeTime,
    pending_deliveries: Type.Integer(),
    delivery_due_at: Type.Union([time, Type.Null()], { description: "Since when the longest due delivery is due." }),
  }),
});

export function addTodayRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock, currency } = dependencies;
  const get = describeAdminEndpoint("getToday");
  http.get(
    "/today",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Get the figures of a day",
        description: "In the operator's time zone, beside the day before.",
        querystring: Type.Object(
          { day: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "Default: today." })) },
          { additionalProperties: false },
        ),
        response: { 200: todaySchema, ...get.errors },
      },
    },
    async (request) => {
      const timeZone = await readOperatorZone(dependencies, request);
      const now = clock.now();
      const day = parseDay(request.query.day) ?? findDay(now, timeZone);
      const [before, from, to] = [-1, 0, 1].map((days) => findDayStart(day.add({ days }), timeZone)) as [
        Date,
        Date,
        Date,
      ];
      // One after the other: a page of figures must not take the connections of calls.
      const sums = await sumMoneyBetween(database, [before, from, to]);
      const accounts = await countAccounts(dependencies, { from, to });
      const accountsBefore = await countAccounts(dependencies, { from: before, to: from });
      const { credit, owed } = await sumLiability(database);
      const tasks = await readTaskLag(database);
      const upstreams = await countProviderTasks(database);
      const deliveries = await readDeliveryLag(database);
      const alarms = await listAlarms(database, { states: ["firing"], limit: alarmsMax });
      const [previous, current] = sums;
      return {
        object: "today" as const,
        ...{ day: day.toString(), time_zone: timeZone, currency },
        current: presentDay(current, accounts, { from, to }),
        previous: presentDay(previous, accountsBefore, { from: before, to: from }),
        firing_alarms: alarms.length,
        liability: presentMoney(credit),
        owed: presentMoney(owed),
        queues: {
          queued_tasks: tasks.queued,
          processing_tasks: tasks.processing,
          waiting_tasks: upstreams.reduce((sum, { waiting }) => sum + waiting, 0),
          oldest_queued_at: tasks.oldestQueuedAt?.toISOString() ?? null,
          pending_deliveries: deliveries.pending,
          delivery_due_at: deliveries.oldestDueAt?.toISOString() ?? null,
        },
      };
    },
  );
}

type Period = { from: Date; to: Date };
type AccountCounts = { active: number; opened: number; traffic: Awaited<ReturnType<typeof sumPeriod>> };

const alarmsMax = 100;

async function countAccounts(
  { database }: Pick<AdminDependencies, "database">,
  period: Period,
): Promise<AccountCounts> {
  const ids = { from: presentLeastId("acct", period.from), to: presentLeastId("acct", period.to) };
  return {
    active: await countActiveAccounts(database, period),
    opened: await countNewAccounts(database, ids),
    traffic: await sumPeriod(database, period),
  };
}

function presentDay(
  sums: MoneySums = noMoney,
  { active, opened, traffic }: AccountCounts,
  { from, to }: Period,
): Static<typeof daySchema> {
  const { revenue, cost, calls, unknown, sold, given } = sums;
  return {
    ...{ from: from.toISOString(), to: to.toISOString() },
    revenue: presentMoney(revenue),
    cost: presentMoney(cost),
    margin: presentMoney(nano(revenue - cost)),
    calls: Number(calls),
    calls_without_cost: Number(unknown),
    errors: traffic?.failed ?? null,
    requests: traffic?.calls ?? null,
    money_in: presentMoney(sold),
    credit_given: presentMoney(given),
    refunds: presentMoney(sums.refunded),
    reversed: presentMoney(sums.reversed),
    active_accounts: active,
    new_accounts: opened,
  };
}

function parseDay(text: string | undefined): Temporal.PlainDate | null {
  if (text === undefined) return null;
  try {
    return Temporal.PlainDate.from(text);
  } catch (cause) {
    throw new AppError("invalid_parameter", "`day` must be a day such as 2026-11-01.", { param: "day", cause });
  }
}
