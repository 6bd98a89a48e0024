import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import { type Nano, parseMoney, presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { listClawbacks } from "../../ledger/index.ts";
import { type Checkout, findCheckout, listPayments, listReversals, listReversalsOfAll } from "../../payments/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { reasonSchema } from "../edge/reason.ts";
import { refundPaymentAsOperator, waiveDebtAsOperator } from "./change-money-as-operator.ts";
import {
  paymentListSchema,
  paymentQuerySchema,
  paymentSchema,
  presentPayment,
  presentReversal,
  reversalListSchema,
  reversalQuerySchema,
} from "./money-admin-schema.ts";

const params = pathParams({ payment_id: "checkout" });
const usualLimit = 20;

const refundSchema = Type.Object(
  {
    amount: Type.Optional(Type.String({ maxLength: 40, description: "Default: what is left of the payment." })),
    reason: reasonSchema.properties.reason,
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: "^[^\\0]*$",
        description: "An idempotency reference. The same reference refunds once.",
      }),
    ),
  },
  { additionalProperties: false },
);

export function addPaymentAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addPayments(http, dependencies);
  addReversals(http, dependencies);
  addPaymentChanges(http, dependencies);
}

function addPayments(http: HttpServer, dependencies: AdminDependencies): void {
  const { database } = dependencies;
  const list = describeAdminEndpoint("listPayments");
  http.get(
    "/payments",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List payments of all accounts",
        description:
          "Checkouts, automatic top-ups and payments of other providers, newest first. A page may be short and still have a next one.",
        querystring: paymentQuerySchema,
        response: { 200: paymentListSchema, ...list.errors },
      },
    },
    async ({ query: { account_id: accountId, state, origin, from, to, limit = usualLimit, after = null } }) => {
      const filter = {
        ...{ accountId: (accountId ?? null) as AccountId | null, state: state ?? null, origin: origin ?? null },
        ...{ from: parseMoment(from, "from"), to: parseMoment(to, "to") },
      };
      const { checkouts, next } = await listPayments(database, filter, { after, limit });
      const emails = await findAccountEmails(
        database,
        checkouts.map((checkout) => checkout.accountId),
      );
      const data = checkouts.map((checkout) => presentPayment(checkout, emails.get(checkout.accountId) ?? null));
      return { object: "list" as const, data, has_more: next !== null, next_cursor: next };
    },
  );
  const get = describeAdminEndpoint("getPayment");
  http.get(
    "/payments/:payment_id",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Get a payment",
        description: "With its refunds and disputes, and what the ledger took back for each.",
        params,
        response: { 200: paymentSchema, ...get.errors },
      },
    },
    async (request) => {
      const checkout = await findCheckout(database, { id: request.params.payment_id });
      if (checkout === null) throw new AppError("not_found", "There is no such payment.", { param: "payment_id" });
      return await present(dependencies, checkout);
    },
  );
}

function addPaymentChanges(http: HttpServer, dependencies: AdminDependencies): void {
  const refund = describeAdminEndpoint("refundPayment", ["endpoint_not_released"]);
  http.post(
    "/payments/:payment_id/refund",
    {
      config: refund.config,
      schema: {
        ...refund.schema,
        summary: "Refund a payment",
        description:
          "To the card, at Stripe. The credit is clawed back; what the customer has spent of it becomes a debt that freezes the account.",
        params,
        body: refundSchema,
        response: { 200: paymentSchema, ...refund.errors },
      },
    },
    async (request) => {
      const { amount, reason, reference = request.id } = request.body;
      const checkout = await refundPaymentAsOperator(dependencies, {
        ...{ id: request.params.payment_id, acting: getActing(request), reason, reference },
        amount: amount === undefined ? null : parseAmount(amount),
      });
      return await present(dependencies, checkout);
    },
  );
  const waive = describeAdminEndpoint("waivePaymentDebt");
  http.post(
    "/payments/:payment_id/waive",
    {
      config: waive.config,
      schema: {
        ...waive.schema,
        summary: "Waive the debt of a reversed payment",
        description: "The account can spend again if it owes nothing else.",
        params,
        body: reasonSchema,
        response: { 200: Type.Object({ object: Type.Literal("waiver"), waived: Type.String() }), ...waive.errors },
      },
    },
    async (request) => {
      const asked = { id: request.params.payment_id, acting: getActing(request), reason: request.body.reason };
      return { object: "waiver" as const, waived: presentMoney(await waiveDebtAsOperator(dependencies, asked)) };
    },
  );
}

function addReversals(http: HttpServer, { database }: AdminDependencies): void {
  const list = describeAdminEndpoint("listReversals");
  http.get(
    "/reversals",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List refunds and disputes of payments",
        querystring: reversalQuerySchema,
        response: { 200: reversalListSchema, ...list.errors },
      },
    },
    async ({ query: { kind = null, limit = usualLimit, after } }) => {
      const before = after === undefined ? null : BigInt(after);
      const found = await listReversalsOfAll(database, { kind, before, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const payments = await Promise.all(shown.map(({ checkoutId }) => findCheckout(database, { id: checkoutId })));
      const clawbacks = await Promise.all(shown.map(({ checkoutId }) => listClawbacks(database, checkoutId)));
      const emails = await findAccountEmails(
        database,
        payments.flatMap((payment) => payment?.accountId ?? []),
      );
      const data = shown.flatMap((reversal, index) => {
        const checkout = payments[index] ?? null;
        if (checkout === null) return [];
        const clawback = clawbacks[index]?.find(({ id }) => id === reversal.id) ?? null;
        const { accountId } = checkout;
        return [
          {
            ...presentReversal(reversal, { checkout, clawback }),
            ...{ account_id: accountId as string, email: emails.get(accountId) ?? null },
            created_at: reversal.receivedAt.toISOString(),
          },
        ];
      });
      const hasMore = found.length > limit;
      const next = hasMore ? String(shown.at(-1)?.number ?? "") : null;
      return { object: "list" as const, data, has_more: hasMore, next_cursor: next };
    },
  );
}

async function present({ database }: Pick<AdminDependencies, "database">, checkout: Checkout) {
  const [reversals, clawbacks, emails] = await Promise.all([
    listReversals(database, [checkout.id]),
    listClawbacks(database, checkout.id),
    findAccountEmails(database, [checkout.accountId]),
  ]);
  return {
    ...presentPayment(checkout, emails.get(checkout.accountId) ?? null),
    can_refund:
      checkout.state === "paid" && checkout.origin !== "external" && checkout.refundedMinor < checkout.amountMinor,
    reversals: reversals.map((reversal) =>
      presentReversal(reversal, { checkout, clawback: clawbacks.find(({ id }) => id === reversal.id) ?? null }),
    ),
  };
}

function parseAmount(text: string): Nano {
  const amount = parseMoney(text);
  if (amount !== null && amount > 0n) return amount;
  throw new AppError("invalid_parameter", "The amount must be a decimal above zero, such as 10.00.", {
    param: "amount",
  });
}
