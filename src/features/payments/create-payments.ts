import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Settings } from "../../platform/config/load-settings.ts";
import { resolveSecret } from "../../platform/config/secrets.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { addCheckoutRoutes } from "./checkout-routes.ts";
import { createCheckout } from "./create-checkout.ts";
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

type PaymentParts = {
  settings: Settings;
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  /** Where Stripe is; only tests have another one. */
  stripe?: StripePlace;
};

export function createPayments({ settings, stripe: place, ...parts }: PaymentParts): Payments {
  const keys = readStripeKeys(settings);
  const stripe = keys === null ? null : createStripeClient(keys, place);
  const { payment_amount_min: amountMin, payment_amount_max: amountMax } = settings;
  if (amountMin > amountMax) {
    throw new OperatorError(
      `payment_amount_min (${amountMin}) is more than payment_amount_max (${amountMax}).`,
      "Write a smaller payment_amount_min.",
    );
  }
  const limits = { siteUrl: settings.site_url, currency: settings.currency, amountMin, amountMax };
  return {
    addRoutes: (consoleApi) =>
      addCheckoutRoutes(consoleApi, {
        ...parts,
        currency: settings.currency,
        createCheckout: async (request) =>
          await createCheckout({ ...parts, ...limits, stripe: requireStripe(stripe) }, request),
      }),
    addWebhookRoute: (http) =>
      addStripeWebhookRoute(http, {
        hear: async (event) => await hearStripe({ ...parts, stripe: requireStripe(stripe) }, event),
      }),
    async sweep(signal) {
      if (stripe === null) return;
      // What goes wrong with one must not keep the other from its turn.
      const outcomes: PromiseSettledResult<void>[] = [];
      for (const sweep of [sweepCheckouts, sweepReversals]) {
        outcomes.push(...(await Promise.allSettled([sweep({ ...parts, stripe }, signal)])));
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

const formHint =
  "stripe_secret_key begins with sk_ or rk_, and stripe_webhook_secret with whsec_; set both or neither.";

/** `null` where nobody can pay by card. */
function readStripeKeys({ stripe_secret_key: key, stripe_webhook_secret: secret }: Settings): StripeKeys | null {
  if (key === undefined && secret === undefined) return null;
  if (key === undefined || secret === undefined)
    throw new OperatorError("One half of Stripe's keys is missing.", formHint);
  const secretKey = readSecret("stripe_secret_key", key);
  const webhookSecret = readSecret("stripe_webhook_secret", secret);
  if (/^[sr]k_\S+$/.test(secretKey) && /^whsec_\S+$/.test(webhookSecret)) return { secretKey, webhookSecret };
  throw new OperatorError("Stripe's keys do not look like keys of Stripe's.", formHint);
}

function readSecret(setting: string, text: string): string {
  const value = resolveSecret(text);
  if (value !== null) return value;
  throw new OperatorError(
    `${setting} names a variable that is not set.`,
    `Set ${text.slice(2, -1)} in the environment, or take Stripe's keys out of the settings.`,
  );
}
