import type { PaymentLimits, StripeKeys } from "../features/payments/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { readSecret, readWebhookKey } from "./read-webhook-key.ts";

/** Throws with the fix if a payment setting is invalid. */
export function readPaymentSettings(settings: Settings): {
  keys: StripeKeys | null;
  limits: PaymentLimits;
  autoTopUpsDailyMax: number;
  webhookSecret: string | null;
} {
  const {
    payment_amount_min: amountMin,
    payment_amount_max: amountMax,
    site_url: siteUrl,
    currency,
    auto_top_ups_daily_max: autoTopUpsDailyMax,
    payment_webhook_secret: webhookKey,
  } = settings;
  if (amountMin > amountMax) {
    throw new OperatorError(
      `payment_amount_min (${amountMin}) is more than payment_amount_max (${amountMax}).`,
      "Lower payment_amount_min.",
    );
  }
  return {
    keys: readStripeKeys(settings),
    limits: { siteUrl, currency, amountMin, amountMax },
    autoTopUpsDailyMax,
    webhookSecret: webhookKey === undefined ? null : readWebhookKey("payment_webhook_secret", webhookKey),
  };
}

const formHint = "Set both or neither. stripe_secret_key begins with sk_ or rk_, stripe_webhook_secret with whsec_.";

/** `null` if card payments are disabled. */
function readStripeKeys({ stripe_secret_key: key, stripe_webhook_secret: secret }: Settings): StripeKeys | null {
  if (key === undefined && secret === undefined) return null;
  if (key === undefined || secret === undefined)
    throw new OperatorError("Only one of stripe_secret_key and stripe_webhook_secret is set.", formHint);
  const secretKey = readSecret("stripe_secret_key", key);
  const webhookSecret = readSecret("stripe_webhook_secret", secret);
  if (/^[sr]k_\S+$/.test(secretKey) && /^whsec_\S+$/.test(webhookSecret)) return { secretKey, webhookSecret };
  throw new OperatorError("stripe_secret_key or stripe_webhook_secret has the wrong format.", formHint);
}
