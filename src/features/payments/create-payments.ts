import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { addCheckoutRoutes } from "./checkout-routes.ts";
import { createCheckout, type PaymentLimits } from "./create-checkout.ts";
import { handleStripeEvent } from "./handle-stripe-event.ts";
import { createStripeClient, type StripeClient, type StripeKeys, type StripePlace } from "./stripe-client.ts";
import { addStripeWebhookRoute } from "./stripe-webhook-routes.ts";
import { sweepPayments } from "./sweep-payments.ts";

export type Payments = {
  /** Adds the billing page's routes to the console API. */
  addRoutes(consoleApi: HttpServer): void;
  addWebhookRoute(http: HttpServer): Promise<void>;
  /** Polls Stripe for payments, refunds and disputes whose webhook events were lost. */
  sweep(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

type PaymentOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  /** `null` disables card payments. */
  keys: StripeKeys | null;
  limits: PaymentLimits;
  /** Tests replace Stripe's URL. */
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
        handle: async (event) =>
          await handleStripeEvent({ database, clock, logger, stripe: requireStripe(stripe) }, event),
      }),
    async sweep(signal) {
      if (stripe !== null) await sweepPayments({ database, clock, logger, stripe }, signal);
    },
    async close() {
      await stripe?.close();
    },
  };
}

function requireStripe(stripe: StripeClient | null): StripeClient {
  if (stripe !== null) return stripe;
  throw new AppError("endpoint_not_released", "Card payments aren't enabled.");
}
