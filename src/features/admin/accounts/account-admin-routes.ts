import type { AccountId, TransactionId } from "../../../lib/ids.ts";
import type { LimitSet } from "../../../lib/limit-set.ts";
import { type Nano, nano, parseMoney, presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { listKeyPage, listKeyUses, listPlans } from "../../accounts/index.ts";
import { type CreditRequest, readBalance, sumMoney } from "../../ledger/index.ts";
import { createUnknownCursor, findCharge, listCharges, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { type AdminEndpointName, describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { reasonSchema } from "../edge/reason.ts";
import {
  accountChangeSchema,
  accountListSchema,
  accountQuerySchema,
  accountSchema,
  bookingSchema,
  chargeListSchema,
  chargeQuerySchema,
  creditSchema,
  keyListSchema,
  keyQuerySchema,
  planListSchema,
  presentAccount,
  presentAccountCharge,
  presentAccountKey,
  presentListedAccount,
  refundSchema,
} from "./account-admin-schema.ts";
import { listAccountPage, sumRefunds } from "./account-view-store.ts";
import {
  bookAsOperator,
  changeAccountAsOperator,
  getAccount,
  revokeKeyAsOperator,
} from "./change-account-as-operator.ts";
import { readAccountFacts } from "./read-account.ts";

const params = pathParams({ account_id: "account" });
const usualLimit = 20;

export function addAccountAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addReading(http, dependencies);
  addKeys(http, dependencies);
  addChanges(http, dependencies);
  addBookings(http, dependencies);
}

function addReading(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock } = dependencies;
  const list = describeAdminEndpoint("listAccounts");
  http.get(
    "/accounts",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List accounts",
        querystring: accountQuerySchema,
        response: { 200: accountListSchema, ...list.errors },
      },
    },
    async ({ query: { q, plan = null, status = null, limit = usualLimit, after = null } }) => {
      const words = q?.trim().toLowerCase() ?? "";
      const filter = { words: words === "" ? null : words, plan, status };
      const found = await listAccountPage(database, filter, { after, limit: limit + 1 });
      const ids = found.map(({ id }) => id);
      const money = await sumMoney(database, ids, clock.now());
      return presentPage(found, limit, (account) =>
        presentListedAccount(account, money.get(account.id)?.available ?? nano(0n)),
      );
    },
  );
  const get = describeAdminEndpoint("getAccount");
  http.get(
    "/accounts/:account_id",
    {
      config: get.config,
      schema: { ...get.schema, summary: "Get an account", params, response: { 200: accountSchema, ...get.errors } },
    },
    async (request) => {
      const account = await getAccount(database, request.params.account_id);
      return presentAccount(account, await readAccountFacts(dependencies, account));
    },
  );
  const plans = describeAdminEndpoint("listPlans");
  http.get(
    "/plans",
    {
      config: plans.config,
      schema: { ...plans.schema, summary: "List plans", response: { 200: planListSchema, ...plans.errors } },
    },
    async () => ({
      object: "list" as const,
      data: (await listPlans(database)).map(({ id, name }) => ({ id, name })),
    }),
  );
  const charges = describeAdminEndpoint("listAccountCharges");
  http.get(
    "/accounts/:account_id/charges",
    {
      config: charges.config,
      schema: {
        ...charges.schema,
        summary: "List an account's charges",
        params,
        querystring: chargeQuerySchema,
        response: { 200: chargeListSchema, ...charges.errors },
      },
    },
    async ({ params: { account_id: id }, query: { limit = usualLimit, after = null } }) => {
      const account = await getAccount(database, id);
      const filter = { accountId: account.id, from: null, to: null, model: null, keyId: null, taskId: null };
      const found = await listCharges(database, filter, { after, limit: limit + 1 });
      if (found === null) throw createUnknownCursor();
      const refunds = await sumRefunds(
        database,
        found.map((charge) => charge.id),
      );
      return presentPage(found, limit, (charge) => presentAccountCharge(charge, refunds.get(charge.id) ?? 0n));
    },
  );
}

function addKeys(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock } = dependencies;
  const list = describeAdminEndpoint("listAccountKeys");
  http.get(
    "/accounts/:account_id/keys",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List an account's API keys",
        params,
        querystring: keyQuerySchema,
        response: { 200: keyListSchema, ...list.errors },
      },
    },
    async ({ params: { account_id: id }, query: { limit = usualLimit, after } }) => {
      const account = await getAccount(database, id);
      const page = { accountId: account.id, limit: limit + 1, now: clock.now() };
      const keys = await listKeyPage(database, { ...page, ...(after === undefined ? {} : { after }) });
      const uses = await listKeyUses(
        database,
        keys.map((key) => key.id),
      );
      return presentPage(keys, limit, (key) => presentAccountKey(key, uses.get(key.id) ?? null));
    },
  );
  const revoke = describeAdminEndpoint("revokeAccountKey");
  http.post(
    "/accounts/:account_id/keys/:key_id/revoke",
    {
      config: revoke.config,
      schema: {
        ...revoke.schema,
        summary: "Revoke an account's API key",
        params: pathParams({ account_id: "account", key_id: "key" }),
        body: reasonSchema,
        response: { 200: keyListSchema.properties.data.items, ...revoke.errors },
      },
    },
    async (request) => {
      const { account_id: accountId, key_id: keyId } = request.params;
      const action = { accountId: accountId as AccountId, acting: getActing(request), reason: request.body.reason };
      const key = await revokeKeyAsOperator(dependencies, action, keyId);
      return presentAccountKey(key, (await listKeyUses(database, [key.id])).get(key.id) ?? null);
    },
  );
}

function addChanges(http: HttpServer, dependencies: AdminDependencies): void {
  const update = describeAdminEndpoint("updateAccount");
  http.patch(
    "/accounts/:account_id",
    {
      config: update.config,
      schema: {
        ...update.schema,
        summary: "Change an account's plan and limits",
        description: "Absent fields keep their value. Every node applies the change within a second.",
        params,
        body: accountChangeSchema,
        response: { 200: accountSchema, ...update.errors },
      },
    },
    async (request) => {
      const { plan, limits, reason } = request.body;
      if (plan === undefined && limits === undefined) {
        throw new AppError("missing_parameter", "Send `plan` or `limits`.", { param: "plan" });
      }
      const action = { accountId: request.params.account_id as AccountId, acting: getActing(request), reason };
      const account = await changeAccountAsOperator(dependencies, action, {
        action: "account.changed",
        ...(plan === undefined ? {} : { planId: plan }),
        ...(limits === undefined ? {} : { limits: parseLimits(limits) }),
      });
      return presentAccount(account, await readAccountFacts(dependencies, account));
    },
  );
  addSuspension(http, dependencies, {
    name: "suspendAccount",
    path: "suspend",
    summary: "Suspend an account",
    isSuspended: true,
  });
  addSuspension(http, dependencies, {
    name: "resumeAccount",
    path: "resume",
    summary: "Resume an account",
    isSuspended: false,
  });
}

type Suspension = { name: AdminEndpointName; path: string; summary: string; isSuspended: boolean };

function addSuspension(
  http: HttpServer,
  dependencies: AdminDependencies,
  { name, path, summary, isSuspended }: Suspension,
): void {
  const { config, schema, errors } = describeAdminEndpoint(name);
  http.post(
    `/accounts/:account_id/${path}`,
    { config, schema: { ...schema, summary, params, body: reasonSchema, response: { 200: accountSchema, ...errors } } },
    async (request) => {
      const { account_id: accountId } = request.params as { account_id: AccountId };
      const { reason } = request.body as { reason: string };
      const change = { action: isSuspended ? "account.suspended" : "account.resumed", isSuspended } as const;
      const action = { accountId, acting: getActing(request), reason };
      const account = await changeAccountAsOperator(dependencies, action, change);
      return presentAccount(account, await readAccountFacts(dependencies, account));
    },
  );
}

function addBookings(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock } = dependencies;
  const present = async (accountId: AccountId, booked: { transactionId: TransactionId; isReplay: boolean }) => {
    const { balance } = await readBalance(database, accountId, clock.now());
    return {
      object: "booking" as const,
      id: booked.transactionId as string,
      replayed: booked.isReplay,
      available_balance: presentMoney(balance.available),
    };
  };
  const credit = describeAdminEndpoint("bookCredit", ["insufficient_balance", "idempotency_key_reused"]);
  http.post(
    "/accounts/:account_id/credit",
    {
      config: credit.config,
      schema: {
        ...credit.schema,
        summary: "Book credit, a grant or a correction",
        params,
        body: creditSchema,
        response: { 200: bookingSchema, ...credit.errors },
      },
    },
    async (request) => {
      const { reason, reference = null, ...booking } = request.body;
      const accountId = request.params.account_id as AccountId;
      const action = { accountId, acting: getActing(request), reason };
      return await present(
        accountId,
        await bookAsOperator(dependencies, action, { booking: parseBooking(booking), reference }),
      );
    },
  );
  const refund = describeAdminEndpoint("refundCharge", ["insufficient_balance", "idempotency_key_reused"]);
  http.post(
    "/accounts/:account_id/refunds",
    {
      config: refund.config,
      schema: {
        ...refund.schema,
        summary: "Refund a charge or a part of it",
        description: "The money returns to the buckets it was paid from.",
        params,
        body: refundSchema,
        response: { 200: bookingSchema, ...refund.errors },
      },
    },
    async (request) => {
      const { charge_id: chargeId, amount: text, reason, reference = null } = request.body;
      const accountId = request.params.account_id as AccountId;
      const charge = await findCharge(database, { accountId, id: chargeId });
      if (charge === null) {
        throw new AppError("not_found", "The account has no such charge.", { param: "charge_id" });
      }
      const amount = charge.unit === "money" ? parseAmount(text) : parseUnits(text);
      const booking = { kind: "refund" as const, chargeId: chargeId as TransactionId, amount };
      const action = { accountId, acting: getActing(request), reason };
      return await present(accountId, await bookAsOperator(dependencies, action, { booking, reference }));
    },
  );
}

type AskedBooking = {
  kind: "top_up" | "grant" | "adjust";
  amount: string;
  unit?: "money" | "text" | "image" | "video";
  expires_at?: string;
};

function parseBooking({ kind, amount, unit, expires_at: expiresAt }: AskedBooking): CreditRequest["booking"] {
  if (kind === "grant") {
    const expiry = parseMoment(expiresAt, "expires_at");
    if (unit === undefined || unit === "money") {
      return { kind, unit: "money", amount: parseAmount(amount), expiresAt: expiry };
    }
    return { kind, unit, amount: parseUnits(amount), expiresAt: expiry };
  }
  const param = unit === undefined ? (expiresAt === undefined ? null : "expires_at") : "unit";
  if (param !== null) throw new AppError("invalid_parameter", `Only a grant has \`${param}\`.`, { param });
  if (kind === "top_up") return { kind: "top-up", amount: parseAmount(amount) };
  const isDown = amount.startsWith("-");
  const size = parseAmount(isDown ? amount.slice(1) : amount);
  return { kind, amount: isDown ? nano(-size) : size };
}

function parseAmount(text: string): Nano {
  const amount = parseMoney(text);
  if (amount !== null && amount > 0n) return amount;
  const message = "The amount must be a decimal above zero with at most nine places, such as 10.00.";
  throw new AppError("invalid_parameter", message, { param: "amount" });
}

function parseUnits(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  const message = "The amount of a quota must be a whole number of tokens, images or seconds above zero.";
  throw new AppError("invalid_parameter", message, { param: "amount" });
}

type AskedLimits = {
  requests_per_minute?: number | null;
  tokens_per_minute?: number | null;
  concurrent_requests?: number | null;
  tasks_in_flight?: number | null;
};

/** `undefined` stays out, so that absent limits keep their value. */
function parseLimits(asked: AskedLimits): { [L in keyof LimitSet]?: number | null } {
  const named = {
    requestsPerMinute: asked.requests_per_minute,
    tokensPerMinute: asked.tokens_per_minute,
    concurrentRequests: asked.concurrent_requests,
    tasksInFlight: asked.tasks_in_flight,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
