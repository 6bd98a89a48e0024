import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import { nano, presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { sumMargins, sumMoneyBetween } from "../../costs/index.ts";
import { createUnknownCursor, cutTime, findDay, findDayStart, presentPage } from "../../usage/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import { getAccount } from "../accounts/change-account-as-operator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { reasonSchema } from "../edge/reason.ts";
import { readOperatorZone } from "../today/operator-zone.ts";
import { unfreezeAsOperator } from "./change-money-as-operator.ts";
import {
  entryListSchema,
  entryQuerySchema,
  fromField,
  newVerificationSchema,
  presentCreditEntry,
  presentStop,
  presentSums,
  presentVerification,
  revenueQuerySchema,
  revenueSchema,
  stopListSchema,
  stopQuerySchema,
  toField,
  verificationListSchema,
  verificationQuerySchema,
  verificationSchema,
} from "./money-admin-schema.ts";
import { type EntryPlace, listCreditEntries, listStops, sumLiability } from "./money-admin-store.ts";
import { askVerification } from "./run-verification.ts";
import { listVerifications } from "./verification-store.ts";

const usualLimit = 20;
const marginLinesMax = 100;
const marginDaysMax = 31;
const halfHourMs = 30 * 60_000;
const dayMs = 24 * 60 * 60_000;

export function addLedgerAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addRevenue(http, dependencies);
  addMargins(http, dependencies);
  addEntries(http, dependencies);
  addVerifications(http, dependencies);
  addStops(http, dependencies);
}

function addRevenue(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock, currency } = dependencies;
  const revenue = describeAdminEndpoint("listRevenue");
  http.get(
    "/revenue",
    {
      config: revenue.config,
      schema: {
        ...revenue.schema,
        summary: "List revenue against credit sold",
        description:
          "By day or month of the operator's time zone: credit sold, given away, refunded, reversed and expired, what was charged, and what customers had at the end.",
        querystring: revenueQuerySchema,
        response: { 200: revenueSchema, ...revenue.errors },
      },
    },
    async (request) => {
      const { by = "day", from, to } = request.query;
      const timeZone = await readOperatorZone(dependencies, request);
      const now = clock.now();
      const boundaries = cutPeriods({ by, from: parseDay(from, "from"), to: parseDay(to, "to") }, { timeZone, now });
      const end = boundaries.at(-1) ?? now;
      // The liability is known now; every earlier one is that without what came after.
      const isPast = end < now;
      const [sums, { credit }] = await Promise.all([
        sumMoneyBetween(database, isPast ? [...boundaries, new Date(now.getTime() + halfHourMs)] : boundaries),
        sumLiability(database),
      ]);
      let liability: bigint = credit;
      const rows = sums.toReversed().map((sum, index) => {
        const row = { sum, liability: nano(liability), index: sums.length - 1 - index };
        const { sold, given, refunded, reversed, expired, adjusted, revenue: charged } = sum;
        liability -= sold + given + refunded + adjusted - reversed - expired - charged;
        return row;
      });
      return {
        object: "list" as const,
        ...{ time_zone: timeZone, currency },
        data: rows
          .filter(({ index }) => index < boundaries.length - 1)
          .map(({ sum, liability: owed, index }) => ({
            from: (boundaries[index] ?? now).toISOString(),
            to: (boundaries[index + 1] ?? now).toISOString(),
            ...presentSums(sum),
            liability: presentMoney(owed),
          })),
      };
    },
  );
}

function addMargins(http: HttpServer, { database, clock, currency }: AdminDependencies): void {
  const margins = describeAdminEndpoint("listMargins");
  http.get(
    "/margins",
    {
      config: margins.config,
      schema: {
        ...margins.schema,
        summary: "List revenue, cost and margin by model, account or route",
        description: `The ${marginLinesMax} lines with the lowest margin, of up to ${marginDaysMax} days. Only operators see routes.`,
        querystring: Type.Object(
          {
            by: Type.Optional(Type.Enum(["model", "account", "route"], { default: "model" })),
            from: fromField,
            to: toField,
          },
          { additionalProperties: false },
        ),
        response: { 200: marginListSchema, ...margins.errors },
      },
    },
    async ({ query: { by = "model", from: first, to: last } }) => {
      const to = parseMoment(last, "to") ?? clock.now();
      const from = parseMoment(first, "from") ?? new Date(to.getTime() - dayMs);
      if (from >= to) throw new AppError("invalid_parameter", "`from` must be before `to`.", { param: "from" });
      if (to.getTime() - from.getTime() > marginDaysMax * dayMs + dayMs / 24) {
        throw new AppError("invalid_parameter", `The period must be at most ${marginDaysMax} days.`, { param: "from" });
      }
      const lines = await sumMargins(database, { from, to, by: new Set([by]), limit: marginLinesMax });
      const emails = await findAccountEmails(
        database,
        lines.flatMap(({ account }) => account ?? []),
      );
      return {
        object: "list" as const,
        currency,
        data: lines.map((line) => ({
          subject: line[by],
          email: line.account === null ? null : (emails.get(line.account) ?? null),
          calls: Number(line.calls),
          calls_without_cost: Number(line.unknown),
          revenue: presentMoney(line.revenue),
          cost: presentMoney(line.cost),
          margin: presentMoney(nano(line.revenue - line.cost)),
        })),
      };
    },
  );
}

const maybeText = Type.Union([Type.String(), Type.Null()]);

const marginListSchema = Type.Object({
  object: Type.Literal("list"),
  currency: Type.String(),
  data: Type.Array(
    Type.Object({
      subject: Type.Union([Type.String(), Type.Null()], { description: "`null`: calls without a known route." }),
      email: maybeText,
      calls: Type.Integer(),
      calls_without_cost: Type.Integer(),
      revenue: Type.String(),
      cost: Type.String(),
      margin: Type.String(),
    }),
  ),
});

const daysMax = 92;
const monthsMax = 36;
const usualDays = 30;
const usualMonths = 12;

type Asked = { by: "day" | "month"; from: Temporal.PlainDate | null; to: Temporal.PlainDate | null };

/** The beginnings of the days or months, and the end of the last. */
function cutPeriods({ by, ...asked }: Asked, { timeZone, now }: { timeZone: string; now: Date }): Date[] {
  const last = asked.to ?? findDay(now, timeZone);
  if (by === "day") {
    const first = asked.from ?? last.subtract({ days: usualDays - 1 });
    requirePeriod(first, last, { days: daysMax - 1 });
    const to = findDayStart(last.add({ days: 1 }), timeZone);
    return cutTime("day", { from: findDayStart(first, timeZone), to, timeZone });
  }
  const first = (asked.from ?? last.subtract({ months: usualMonths - 1 })).with({ day: 1 });
  requirePeriod(first, last, { months: monthsMax });
  const starts: Date[] = [];
  for (let month = first; Temporal.PlainDate.compare(month, last) <= 0; month = month.add({ months: 1 })) {
    starts.push(findDayStart(month, timeZone));
  }
  return [...starts, findDayStart(last.with({ day: 1 }).add({ months: 1 }), timeZone)];
}

function requirePeriod(first: Temporal.PlainDate, last: Temporal.PlainDate, longest: Temporal.DurationLike): void {
  if (Temporal.PlainDate.compare(first, last) > 0) {
    throw new AppError("invalid_parameter", "`from` must not be after `to`.", { param: "from" });
  }
  if (Temporal.PlainDate.compare(first.add(longest), last) < 0) {
    const message = `The period must be at most ${daysMax} days, or ${monthsMax} months by month.`;
    throw new AppError("invalid_parameter", message, { param: "from" });
  }
}

function parseDay(text: string | undefined, param: string): Temporal.PlainDate | null {
  if (text === undefined) return null;
  try {
    return Temporal.PlainDate.from(text);
  } catch (cause) {
    throw new AppError("invalid_parameter", `\`${param}\` must be a day such as 2026-11-01.`, { param, cause });
  }
}

function addEntries(http: HttpServer, { database }: AdminDependencies): void {
  const list = describeAdminEndpoint("listCreditEntries");
  http.get(
    "/credit-entries",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List ledger entries that are not charges",
        description:
          "Credit sold and given, refunds of charges, reversed payments, expiry and corrections of all accounts.",
        querystring: entryQuerySchema,
        response: { 200: entryListSchema, ...list.errors },
      },
    },
    async ({ query: { account_id: accountId, kind = null, from, to, limit = usualLimit, after } }) => {
      const filter = {
        ...{ accountId: (accountId ?? null) as AccountId | null, kind },
        ...{ from: parseMoment(from, "from"), to: parseMoment(to, "to") },
      };
      const place = after === undefined ? null : parsePlace(after);
      const found = await listCreditEntries(database, filter, { after: place, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1)?.place : undefined;
      const next = last === undefined ? null : `${last.micros}.${last.number}`;
      return {
        object: "list" as const,
        data: shown.map(presentCreditEntry),
        has_more: next !== null,
        next_cursor: next,
      };
    },
  );
}

function parsePlace(text: string): EntryPlace {
  const [micros, number] = text.split(".");
  if (micros === undefined || number === undefined) throw createUnknownCursor();
  return { micros: BigInt(micros), number: BigInt(number) };
}

function addVerifications(http: HttpServer, dependencies: AdminDependencies): void {
  const { database } = dependencies;
  const list = describeAdminEndpoint("listVerifications");
  http.get(
    "/ledger-verifications",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List verifications of the ledger",
        description:
          "Those that operators asked for. Gateways verify new entries every minute and all of them every night.",
        querystring: verificationQuerySchema,
        response: { 200: verificationListSchema, ...list.errors },
      },
    },
    async ({ query: { limit = usualLimit, after = null } }) =>
      presentPage(await listVerifications(database, { after, limit: limit + 1 }), limit, presentVerification),
  );
  const start = describeAdminEndpoint("startVerification");
  http.post(
    "/ledger-verifications",
    {
      config: start.config,
      schema: {
        ...start.schema,
        summary: "Verify the ledger",
        description: "A job runs it, one at a time. Accounts with a violation are frozen for spending.",
        body: newVerificationSchema,
        response: { 202: verificationSchema, ...start.errors },
      },
    },
    async (request, reply) => {
      const asked = { scope: request.body.scope ?? "new", acting: getActing(request) };
      const verification = await askVerification(dependencies, asked);
      return reply.code(202).send(presentVerification(verification));
    },
  );
}

function addStops(http: HttpServer, dependencies: AdminDependencies): void {
  const { database } = dependencies;
  const list = describeAdminEndpoint("listFrozenAccounts");
  http.get(
    "/frozen-accounts",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List frozen accounts",
        description: "Accounts that cannot spend, because an invariant does not hold or a reversed payment is owed.",
        querystring: stopQuerySchema,
        response: { 200: stopListSchema, ...list.errors },
      },
    },
    async ({ query: { limit = usualLimit, after = null } }) =>
      presentPage(await listStops(database, { after, limit: limit + 1 }), limit, presentStop),
  );
  const unfreeze = describeAdminEndpoint("unfreezeAccount");
  http.post(
    "/accounts/:account_id/unfreeze",
    {
      config: unfreeze.config,
      schema: {
        ...unfreeze.schema,
        summary: "Unfreeze an account",
        description: "Checks all invariants of the account first, and does nothing if one does not hold.",
        params: pathParams({ account_id: "account" }),
        body: reasonSchema,
        response: { 200: Type.Object({ object: Type.Literal("account"), id: Type.String() }), ...unfreeze.errors },
      },
    },
    async (request) => {
      const { id } = await getAccount(database, request.params.account_id);
      await unfreezeAsOperator(dependencies, {
        accountId: id,
        acting: getActing(request),
        reason: request.body.reason,
      });
      return { object: "account" as const, id: id as string };
    },
  );
}
