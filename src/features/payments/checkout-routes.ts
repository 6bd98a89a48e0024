import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { consoleErrors, getSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { listDebts } from "../ledger/index.ts";
import type { Checkout } from "./checkout.ts";
import {
  checkoutListSchema,
  checkoutQuerySchema,
  checkoutSchema,
  debtSchema,
  newCheckoutSchema,
  presentCheckout,
  presentCheckouts,
  presentDebt,
} from "./checkout-schema.ts";
import { findCheckout, listCheckouts } from "./checkout-store.ts";
import { listReversals } from "./reversal-store.ts";

type CheckoutRouteDependencies = {
  database: Database;
  currency: string;
  /** Throws if card payments aren't enabled. */
  createCheckout(
    request: Pick<Checkout, "accountId"> & { amount: string; savesCard: boolean; address: string },
  ): Promise<Checkout>;
};

const tags = ["Payments"];

/** Checkouts stay readable after an operator disables payments. */
export function addCheckoutRoutes(consoleApi: HttpServer, dependencies: CheckoutRouteDependencies): void {
  addCreate(consoleApi, dependencies);
  addList(consoleApi, dependencies);
  addGet(consoleApi, dependencies);
  addDebt(consoleApi, dependencies);
}

function addCreate(http: HttpServer, { createCheckout }: CheckoutRouteDependencies): void {
  http.post(
    "/checkouts",
    {
      schema: {
        operationId: "createCheckout",
        summary: "Create a checkout",
        description: `Returns the URL of a Stripe page where you can pay the amount within an hour. The credit is added when
Stripe confirms the payment. You can create 10 checkouts an hour and have 20 open. After 10 declined payments within a day, you
can't create another until the next.`,
        tags,
        body: newCheckoutSchema,
        response: {
          201: checkoutSchema,
          ...consoleErrors("POST", ["concurrency_limit_exceeded", "endpoint_not_released"]),
        },
      },
    },
    async (request, reply) => {
      const { accountId } = getSession(request);
      const checkout = await createCheckout({
        ...{ accountId, amount: request.body.amount },
        savesCard: request.body.save_card === true,
        address: request.ip,
      });
      reply.code(201);
      return presentCheckout(checkout);
    },
  );
}

function addList(http: HttpServer, { database }: CheckoutRouteDependencies): void {
  http.get(
    "/checkouts",
    {
      schema: {
        operationId: "listCheckouts",
        summary: "List checkouts",
        description: "Newest first.",
        tags,
        querystring: checkoutQuerySchema,
        response: { 200: checkoutListSchema, ...consoleErrors("GET", ["invalid_parameter", "unknown_parameter"]) },
      },
    },
    async (request) => {
      const { limit, after } = request.query;
      const { accountId } = getSession(request);
      const checkouts = await listCheckouts(database, { accountId, after, limit: limit + 1 });
      const ids = checkouts.map(({ id }) => id);
      return presentCheckouts(checkouts, { limit, reversals: await listReversals(database, ids) });
    },
  );
}

function addGet(http: HttpServer, { database }: CheckoutRouteDependencies): void {
  http.get(
    "/checkouts/:id",
    {
      schema: {
        operationId: "getCheckout",
        summary: "Get a checkout",
        tags,
        params: pathParams({ id: "checkout" }),
        response: { 200: checkoutSchema, ...consoleErrors("GET", ["not_found"]) },
      },
    },
    async (request) => {
      const { accountId } = getSession(request);
      const checkout = await findCheckout(database, { id: request.params.id, accountId });
      if (checkout === null) throw new AppError("not_found", "There is no such checkout.", { param: "id" });
      return presentCheckout(checkout, await listReversals(database, [checkout.id]));
    },
  );
}

function addDebt(http: HttpServer, { database, currency }: CheckoutRouteDependencies): void {
  http.get(
    "/debt",
    {
      schema: {
        operationId: "getDebt",
        summary: "Get the debt",
        description: "What you owe for payments that were refunded or disputed after you spent them.",
        tags,
        response: { 200: debtSchema, ...consoleErrors("GET", []) },
      },
    },
    async (request) => presentDebt(await listDebts(database, getSession(request).accountId), currency),
  );
}
