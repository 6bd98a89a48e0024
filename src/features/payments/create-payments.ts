import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { removeCard, switchTopUpOn } from "./cards/change-top-up.ts";
import { runTopUps } from "./cards/run-top-ups.ts";
import { addTopUpRoutes } from "./cards/top-up-routes.ts";
import { addCheckoutRoutes } from "./checkout-routes.ts";
import { createCheckout, type PaymentLimits } from "./create-checkout.ts";
import { documentLatePayments } from "./document-checkout.ts";
import { handlePaymentEvent } from "./external/handle-payment-event.ts";
import { addPaymentWebhookRoute } from "./external/payment-webhook-routes.ts";
import { handleStripeEvent } from "./handle-stripe-event.ts";
import { createStripeClient, type StripeClient, type StripeKeys, type StripePlace } from "./stripe-client.ts";
import { addStripeWebhookRoute } from "./stripe-webhook-routes.ts";
import { sweepPayments } from "./sweep-payments.ts";

export type Payments = {
  /** Adds the billing page's routes to the console API. */
  addRoutes(consoleApi: HttpServer): void;
  addWebhookRoutes(http: HttpServer): Promise<void>;
  /** Polls Stripe for payments, refunds and disputes whose webhook events were lost, and issues missing invoices. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Charges saved cards of accounts with a low balance. */
  topUp(signal: AbortSignal): Promise<void>;
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
  /** The signing secret of another provider's events; `null` rejects them. */
  webhookSecret: string | null;
  /** Automatic charges per account in 24 hours; 0 disables them. */
  autoTopUpsDailyMax: number;
  /** Tests replace Stripe's URL. */
  place?: StripePlace | undefined;
};

export function createPayments(options: PaymentOptions): Payments {
  const { database, clock, ids, logger, keys, limits, autoTopUpsDailyMax: attemptsMax, place, webhookSecret } = options;
  const stripe = keys === null ? null : createStripeClient(keys, place);
  return {
    addRoutes(consoleApi) {
      addCheckoutRoutes(consoleApi, {
        database,
        currency: limits.currency,
        createCheckout: async (request) => {
          if (request.savesCard) requireTopUps(attemptsMax);
          return await createCheckout({ database, clock, ids, ...limits, stripe: requireStripe(stripe) }, request);
        },
      });
      addTopUpRoutes(consoleApi, {
        ...{ database, clock, currency: limits.currency },
        async switchTopUpOn(request) {
          requireStripe(stripe);
          requireTopUps(attemptsMax);
          await switchTopUpOn({ database, clock, ...limits }, request);
        },
        removeCard: (owner) => removeCard({ database, clock, stripe: requireStripe(stripe) }, owner),
      });
    },
    async addWebhookRoutes(http) {
      await addStripeWebhookRoute(http, {
        handle: async (event) =>
          await handleStripeEvent({ database, clock, logger, stripe: requireStripe(stripe) }, event),
      });
      await addPaymentWebhookRoute(http, {
        async handle(event) {
          if (webhookSecret === null) throw new AppError("endpoint_not_released", "Payment events aren't enabled.");
          const { currency } = limits;
          await handlePaymentEvent({ database, clock, logger, currency, secret: webhookSecret }, event);
        },
      });
    },
    async sweep(signal) {
      await documentLatePayments({ database, clock });
      if (stripe !== null) await sweepPayments({ database, clock, logger, stripe }, signal);
    },
    async topUp(signal) {
      if (stripe === null) return;
      const { siteUrl, currency } = limits;
      await runTopUps({ database, clock, ids, logger, stripe, siteUrl, currency, attemptsMax }, signal);
    },
    async close() {
      await stripe?.close();
    },
  };
}

function requireTopUps(attemptsMax: number): void {
  if (attemptsMax > 0) return;
  throw new AppError("endpoint_not_released", "Automatic top-up isn't enabled.");
}

function requireStripe(stripe: StripeClient | null): StripeClient {
  if (stripe !== null) return stripe;
  throw new AppError("endpoint_not_released", "Card payments aren't enabled.");
}
