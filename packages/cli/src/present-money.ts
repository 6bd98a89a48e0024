import type { ApiClient } from "./api-client.ts";

const currencies = new WeakMap<ApiClient, Promise<string | null>>();
const patienceMs = 5000;

/**
 * Adds the currency to an amount. Only the balance names the currency, so it is fetched once for each client. Without
 * access to the balance, returns the bare amount.
 */
export async function presentMoney(amount: string, api: ApiClient): Promise<string> {
  const asked = currencies.get(api) ?? askCurrency(api);
  currencies.set(api, asked);
  const currency = await asked;
  return currency === null ? amount : `${amount} ${currency}`;
}

async function askCurrency(api: ApiClient): Promise<string | null> {
  try {
    const answer = await api.ask<{ currency?: unknown } | null>({
      method: "GET",
      path: "/balance",
      timeoutMs: patienceMs,
    });
    return typeof answer?.currency === "string" && /^[A-Z]{3}$/.test(answer.currency) ? answer.currency : null;
  } catch {
    // Show the amount without a currency.
    return null;
  }
}
