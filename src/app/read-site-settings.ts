import type { SpendCap } from "../features/abuse/index.ts";
import type { SiteOptions } from "../features/site/index.ts";
import { type Nano, parseMoney } from "../lib/money.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { readBrandSettings } from "./read-brand-settings.ts";
import { readContentDays } from "./read-content-days.ts";

/** Throws with the fix if a site setting is invalid. */
export function readSiteSettings(settings: Settings): SiteOptions {
  return {
    siteUrl: settings.site_url,
    baseUrl: settings.base_url,
    currency: settings.currency,
    signUp: settings.sign_up,
    welcomesDailyMax: readWelcomeCredit(settings) === null ? 0 : settings.welcome_credits_daily_max,
    contentDays: readContentDays(settings),
    supportContact: settings.support_contact ?? null,
    mail: { smtpUrl: settings.smtp_url, from: settings.mail_from },
    payments: {
      kind: settings.stripe_secret_key === undefined ? "none" : "stripe",
      amountMin: `${settings.payment_amount_min}.00`,
      amountMax: `${settings.payment_amount_max}.00`,
      amounts: settings.payment_amounts
        .filter((amount) => amount >= settings.payment_amount_min && amount <= settings.payment_amount_max)
        .map((amount) => `${amount}.00`),
      hasAutoTopUp: settings.stripe_secret_key !== undefined && settings.auto_top_ups_daily_max > 0,
    },
    providers: readProviders(settings),
    brand: readBrandSettings(settings),
  };
}

/** The welcome credit, or `null`. */
export function readWelcomeCredit({ welcome_credit: text }: Pick<Settings, "welcome_credit">): Nano | null {
  const amount = parseMoney(text);
  return amount === null || amount === 0n ? null : amount;
}

/** The daily maximum of new accounts, or `null`. */
export function readSpendCap(settings: Settings): SpendCap | null {
  const amount = parseMoney(settings.new_account_daily_spend_max);
  return amount === null || amount === 0n ? null : { amount, days: settings.new_account_days };
}

function readProviders({ oidc }: Settings): SiteOptions["providers"] {
  return oidc.map(({ id, name, issuer, client_id, client_secret }) => {
    const clientSecret = resolveSecret(client_secret);
    if (clientSecret !== null) return { id, name, issuer, clientId: client_id, clientSecret };
    throw new OperatorError(
      `The client_secret of the OIDC provider ${id} is not set.`,
      `Set ${client_secret.slice(2, -1)} in the environment, or remove ${id} from oidc.`,
    );
  });
}
