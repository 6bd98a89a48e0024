import type { PaymentLimits, StripeKeys } from "../features/payments/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";

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
  } = settings;
  if (amountMin > amountMax) {
    throw new OperatorError(
      `payment_amount_min (${amountMin}) is more than payment_amount_max (${amountMax}).`,
      "Lower payment_amount_min.",
    );
  }
  return {
    keys: readStripeKeys(settings),
    limits: { siteUrl, currency, amountMin, amountMax, methods: settings.payment_methods ?? null },
    autoTopUpsDailyMax,
    webhookSecret: readWebhookSecret(settings),
  };
}

/** Standard Webhooks: the key has at least 24 bytes. */
function readWebhookSecret({ payment_webhook_secret: text }: Settings): string | null {
  if (text === undefined) return null;
  const secret = readSecret("payment_webhook_secret", text);
  const [, key = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (Buffer.from(key, "base64").length >= 24) return secret;
  throw new OperatorError(
    "payment_webhook_secret has the wrong format.",
    "Write whsec_ and at least 24 random bytes in base64: echo whsec_$(openssl rand -base64 32)",
  );
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

function readSecret(setting: string, text: string): string {
  const value = resolveSecret(text);
  if (value !== null) return value;
  throw new OperatorError(
    `The variable of ${setting} is not set.`,
    `Set ${text.slice(2, -1)} in the environment, or remove the setting.`,
  );
}
