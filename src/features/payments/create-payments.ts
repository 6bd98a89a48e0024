import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { addCheckoutRoutes } from "./checkout-routes.ts";
import { createCheckout, type PaymentLimits } from "./create-checkout.ts";
import { hearStripe } from "./hear-stripe.ts";
import { createStripeClient, type StripeClient, type StripeKeys, type StripePlace } from "./stripe-client.ts";
import { addStripeWebhookRoute } from "./stripe-webhook-routes.ts";
import { sweepCheckouts } from "./sweep-checkouts.ts";
import { sweepReversals } from "./sweep-reversals.ts";

export type Payments = {
  /** Adds what the billing page asks, to the console API. */
  addRoutes(consoleApi: HttpServer): void;
  /** Adds the address that Stripe tells of payments. */
  addWebhookRoute(http: HttpServer): Promise<void>;
  /** Asks about payments that nothing was heard of, and for refunds and disputes that nothing was heard of. */
  sweep(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

type PaymentOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  /** `null` where nobody can pay by card. */
  keys: StripeKeys | null;
  limits: PaymentLimits;
  /** Where Stripe is; only tests have another one. */
  place?: StripePlace | undefined;
};

export function createPayments({ database, clock, ids, logger, keys, limits, place }: PaymentOptions): Payments {
  const stripe = keys === null ? null : createStripeClient(keys, place);
  return {
    addRoutes: (consoleApi) =>
      addCheckoutRoutes(consoleApi, {
        database,
        currency: limits.currency,
        createCheckout: async (request) =>
          await createCheckout({ database, clock, ids, ...limits, stripe: requireStripe(stripe) }, request),
      }),
    addWebhookRoute: (http) =>
      addStripeWebhookRoute(http, {
        hear: async (event) => await hearStripe({ database, clock, logger, stripe: requireStripe(stripe) }, event),
      }),
    async sweep(signal) {
      if (stripe === null) return;
      // What goes wrong with one must not keep the other from its turn.
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const sweep of [sweepCheckouts, sweepReversals]) {
        outcomes.push(...(await Promise.allSettled([sweep({ database, clock, logger, stripe }, signal)])));
      }
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
    async close() {
      await stripe?.close();
    },
  };
}

function requireStripe(stripe: StripeClient | null): StripeClient {
  if (stripe !== null) return stripe;
  throw new AppError("endpoint_not_released", "Payments by card are not set up here.");
}
