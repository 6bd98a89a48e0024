import type { ApiClient } from "./api-client.ts";

const currencies = new WeakMap<ApiClient, Promise<string | null>>();
const patienceMs = 5000;

/**
 * An amount as people read it. The server names its currency with the balance only, so that is asked once for each server;
 * a key that may not see the balance leaves the amount as it is.
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
    // What something costs is said all the same.
    return null;
  }
}
