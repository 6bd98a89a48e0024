import type { Clock } from "../../lib/clock.ts";
import type { SecretReader } from "../../platform/config/secrets.ts";
import type { Database } from "../../platform/database/database.ts";
import { ProviderError } from "../../providers/contract.ts";
import { describeFailure } from "../../providers/failures/describe-failure.ts";
import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import { findBalanceSource, readVendorBalance } from "../../providers/vendor-balance.ts";
import { keepVendorBalances, listVendorBalances, putVendorBalance } from "./vendor-balance-store.ts";

type Polling = {
  database: Database;
  clock: Clock;
  secrets: SecretReader;
  /** Of the active catalog. */
  providers: readonly ProviderDefinition[];
  signal: AbortSignal;
};

const minuteMs = 60_000;
/** The job runs every minute; a little less than ten, so that each tenth run asks. */
const restMs = 9.5 * minuteMs;
const timeoutMs = 10_000;
const keysMax = 200;
const askedAtOnce = 8;

/** Asks each vendor with such an endpoint for the balance of our account, every ten minutes, with each key. */
export async function pollVendorBalances({ database, clock, secrets, providers, signal }: Polling): Promise<void> {
  const keys = providers
    .filter((provider) => findBalanceSource(provider) !== null)
    .flatMap((provider) =>
      (provider.api_keys ?? []).map((apiKeyReference, keyNumber) => ({
        ...{ provider, apiKeyReference, secrets, providerId: provider.id, keyNumber },
      })),
    )
    .slice(0, keysMax);
  await keepVendorBalances(database, keys);
  const known = new Map((await listVendorBalances(database)).map((one) => [nameKey(one), one.askedAt]));
  const now = clock.now();
  const due = keys.filter((key) => now.getTime() - (known.get(nameKey(key))?.getTime() ?? 0) >= restMs);
  const queue = due.values();
  const work = async (): Promise<void> => {
    for (const key of queue) {
      if (signal.aborted) return;
      const outcome = await readVendorBalance(key, { now, timeoutMs, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!(error instanceof ProviderError)) throw error;
        const { kind, status, said } = describeFailure(error, key);
        return { failure: [status === null ? kind : `${kind} (${status})`, said].filter(Boolean).join(": ") };
      });
      await putVendorBalance(database, { ...key, askedAt: now }, outcome);
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, work));
}

function nameKey({ providerId, keyNumber }: { providerId: string; keyNumber: number }): string {
  return JSON.stringify([providerId, keyNumber]);
}
