import type { webcrypto } from "node:crypto";
import type { Clock } from "../../../lib/clock.ts";
import type { GuardedClient } from "../../../platform/net/guarded-client.ts";

const keysUrl = "https://rest.alpha.fal.ai/.well-known/jwks.json";
const freshMs = 6 * 3_600_000;
const retryMs = 60_000;
const fetching = { bytesMax: 64 * 1024, timeoutMs: 5_000 };

/** fal's published keys, in memory. Without them its callbacks count as forged, and polling finds the results. */
export function createFalKeys({
  guarded,
  clock,
}: {
  guarded: Pick<GuardedClient, "fetchBytes">;
  clock: Pick<Clock, "monotonicMs">;
}): () => Promise<readonly webcrypto.JsonWebKey[]> {
  let keys: readonly webcrypto.JsonWebKey[] = [];
  let readAgainAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    try {
      const { bytes } = await guarded.fetchBytes(keysUrl, fetching);
      keys = (JSON.parse(bytes.toString("utf8")) as { keys: readonly webcrypto.JsonWebKey[] }).keys;
      readAgainAtMs = clock.monotonicMs() + freshMs;
    } catch {
      // The old keys stay, if there are any.
      readAgainAtMs = clock.monotonicMs() + retryMs;
    } finally {
      reading = null;
    }
  }

  return async () => {
    if (clock.monotonicMs() >= readAgainAtMs) {
      reading ??= read();
      await reading;
    }
    return keys;
  };
}
