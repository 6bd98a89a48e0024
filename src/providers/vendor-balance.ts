import type { SecretReader } from "../platform/config/secrets.ts";
import { type BaseUrl, readBaseUrl } from "./base-url.ts";
import { ProviderError } from "./contract.ts";
import { findAccess } from "./examine-upstream.ts";
import { createMediaClient, type WholeAnswer } from "./media-client.ts";
import { pickWord } from "./pick.ts";
import { type BalanceSource, balanceSources, type ProviderDefinition } from "./provider-definition.ts";
import { readApiKey } from "./provider-setup.ts";
import { isRefusal, readReplyError, type VendorErrors } from "./read-vendor-reply.ts";

/** In billionths of the currency, which is `credits` for vendors that sell those. */
export type VendorBalance = { amountNano: bigint; currency: string };

type Ask = {
  /** After the base URL, or after its host. */
  path: string;
  isFromRoot?: true;
  /** `null` if the answer has no balance. */
  read(body: unknown, host: string): VendorBalance | null;
};

type Vendor = {
  hosts: readonly string[];
  /** Asked in turn until a key may read one. */
  asks: readonly [Ask, ...Ask[]];
  errors?: VendorErrors;
};

/** Where vendors state the balance of an account. Each is a documented endpoint that takes a key for calls. */
const vendors: Record<BalanceSource, Vendor> = {
  openrouter: {
    hosts: ["openrouter.ai"],
    asks: [
      // Only management keys may read the account; a key for calls knows its own limit.
      { path: "credits", read: (body) => subtract(body, "data.total_credits", "data.total_usage", "USD") },
      { path: "key", read: (body) => take(body, "data.limit_remaining", "USD") },
    ],
  },
  deepseek: {
    hosts: ["api.deepseek.com"],
    asks: [
      {
        ...{ path: "user/balance", isFromRoot: true },
        read: (body) =>
          take(body, "balance_infos.0.total_balance", pickWord(body, "balance_infos.0.currency") ?? "CNY"),
      },
    ],
  },
  moonshot: {
    hosts: ["api.moonshot.cn", "api.moonshot.ai"],
    asks: [
      { path: "users/me/balance", read: (body, host) => take(body, "data.available_balance", findCurrency(host)) },
    ],
    errors: { fault: { code: "code", message: "scode", fine: [0] } },
  },
  siliconflow: {
    hosts: ["api.siliconflow.cn", "api.siliconflow.com"],
    asks: [{ path: "user/info", read: (body, host) => take(body, "data.totalBalance", findCurrency(host)) }],
    errors: { fault: { code: "code", message: "message", fine: [20000] } },
  },
  luma: {
    hosts: ["api.lumalabs.ai"],
    asks: [{ path: "credits", read: (body) => take(body, "credit_balance", "USD", centsPerUnit) }],
  },
  runway: {
    hosts: ["api.dev.runwayml.com"],
    asks: [{ path: "organization", read: (body) => take(body, "creditBalance", "credits") }],
  },
  "black-forest-labs": {
    hosts: ["api.bfl.ai"],
    asks: [{ path: "credits", read: (body) => take(body, "credits", "credits") }],
  },
};

const centsPerUnit = 100n;

/** Both vendors bill in yuan at home and in dollars elsewhere. */
function findCurrency(host: string): string {
  return host.endsWith(".cn") ? "CNY" : "USD";
}

function take(body: unknown, place: string, currency: string, divisor = 1n): VendorBalance | null {
  const amount = readNano(pickWord(body, place));
  return amount === null ? null : { amountNano: amount / divisor, currency: currency.slice(0, currencyCharactersMax) };
}

function subtract(body: unknown, whole: string, used: string, currency: string): VendorBalance | null {
  const [credit, usage] = [readNano(pickWord(body, whole)), readNano(pickWord(body, used))];
  return credit === null || usage === null ? null : { amountNano: credit - usage, currency };
}

const currencyCharactersMax = 10;
const places = 9;
const pattern = /^(-?)(\d{1,9})(?:\.(\d{1,30}))?$/;

/** A decimal in billionths; digits beyond are cut. Tiny numbers may have an exponent. */
function readNano(word: string | null): bigint | null {
  if (word === null) return null;
  const [, sign, whole, fraction = ""] = pattern.exec(/e/i.test(word) ? Number(word).toFixed(places) : word) ?? [];
  if (whole === undefined) return null;
  const nano = BigInt(whole + fraction.slice(0, places).padEnd(places, "0"));
  return sign === "-" ? -nano : nano;
}

/** Which vendor's endpoint a provider has; `null` if none is known. */
export function findBalanceSource(provider: ProviderDefinition): BalanceSource | null {
  const { balance, kind, dialect, base_url: baseUrl } = provider;
  if (balance === "none") return null;
  if (balance !== undefined) return balance;
  if (kind === "openrouter-media") return "openrouter";
  const host = baseUrl === undefined ? null : new URL(baseUrl).hostname;
  return (
    balanceSources.find((name) => name === kind || name === dialect) ??
    balanceSources.find((name) => host !== null && vendors[name].hosts.includes(host)) ??
    null
  );
}

type Keyed = { provider: ProviderDefinition; apiKeyReference: string | null; secrets: SecretReader };

const answerBytesMax = 256 * 1024;
const unpermitted: ReadonlySet<number> = new Set([401, 403, 404]);

/** Asks a vendor for the balance of a key's account. Throws a `ProviderError`. */
export async function readVendorBalance(
  keyed: Keyed,
  { now, timeoutMs, signal }: { now: Date; timeoutMs: number; signal: AbortSignal },
): Promise<VendorBalance> {
  const { provider, secrets } = keyed;
  const source = findBalanceSource(provider);
  const access = findAccess(provider);
  if (source === null || access?.baseUrl === undefined) {
    throw new ProviderError("misconfigured", "This provider states no balance.");
  }
  const apiKey = readApiKey(keyed);
  const { asks, errors = {} } = vendors[source];
  const place = readBaseUrl(access.baseUrl);
  const own = Object.entries(provider.headers ?? {}).map(([name, text]) => [name, secrets.find(text) ?? ""]);
  const client = createMediaClient({
    ...{ origin: place.origin, auth: access.auth, connectionsMax: 1 },
    headers: { accept: "application/json", ...access.headers, ...Object.fromEntries(own) },
  });
  try {
    const { hostname } = new URL(place.origin);
    let answer: WholeAnswer | null = null;
    for (const ask of asks) {
      const request = { method: "GET", body: null, path: placeAsk(place, ask), apiKey } as const;
      answer = await client.ask({ ...request, timeoutMs, signal, bytesMax: answerBytesMax });
      if (!isRefusal(errors, answer)) {
        const balance = ask.read(answer.body, hostname);
        if (balance === null) throw new ProviderError("bad-answer", "The answer states no balance.");
        return balance;
      }
      if (!unpermitted.has(answer.status)) break;
    }
    throw readReplyError(errors, answer ?? { status: 0, headers: {}, body: null }, { now, findParam: () => null });
  } finally {
    await client.close();
  }
}

function placeAsk({ origin, pathOf }: BaseUrl, { path, isFromRoot }: Ask): string {
  return isFromRoot === true ? readBaseUrl(origin).pathOf(path) : pathOf(path);
}
