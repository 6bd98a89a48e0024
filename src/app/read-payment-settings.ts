import type { PaymentLimits, StripeKeys } from "../features/payments/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";

/** How people pay here. Throws what is wrong with the settings. */
export function readPaymentSettings(settings: Settings): { keys: StripeKeys | null; limits: PaymentLimits } {
  const { payment_amount_min: amountMin, payment_amount_max: amountMax, site_url: siteUrl, currency } = settings;
  if (amountMin > amountMax) {
    throw new OperatorError(
      `payment_amount_min (${amountMin}) is more than payment_amount_max (${amountMax}).`,
      "Write a smaller payment_amount_min.",
    );
  }
  return { keys: readStripeKeys(settings), limits: { siteUrl, currency, amountMin, amountMax } };
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
