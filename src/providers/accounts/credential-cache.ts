import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";

/** Credentials that end after a while, by what they are issued for. */
export type CredentialCache<T> = {
  /** Issues new credentials shortly before the old ones end. Concurrent calls share one request. */
  get(source: string): Promise<T>;
  /** The next call issues new ones. */
  forget(source: string): void;
  close(): Promise<void>;
};

type Issued<T> = { value: T; expiresAt: number };

type CacheOptions<T> = { clock: Clock; issue(source: string, signal: AbortSignal): Promise<Issued<T>> };

/** Credentials are replaced this long before they end, so that no call starts with expired ones. */
const leadMs = 5 * 60_000;

export function createCredentialCache<T>({ clock, issue }: CacheOptions<T>): CredentialCache<T> {
  const current = new Map<string, Issued<T>>();
  const pending = new Map<string, Promise<Issued<T>>>();
  const closing = new AbortController();

  function renew(source: string): Promise<Issued<T>> {
    const known = pending.get(source);
    if (known !== undefined) return known;
    const made = issue(source, closing.signal)
      .then((issued) => {
        dropEnded(current, clock.now().getTime());
        current.set(source, issued);
        return issued;
      })
      .finally(() => pending.delete(source));
    pending.set(source, made);
    return made;
  }

  return {
    async get(source) {
      const issued = current.get(source);
      const nowMs = clock.now().getTime();
      if (issued !== undefined && nowMs < issued.expiresAt - leadMs) return issued.value;
      try {
        return (await renew(source)).value;
      } catch (error) {
        if (issued !== undefined && nowMs < issued.expiresAt) return issued.value;
        throw error;
      }
    },
    forget: (source) => void current.delete(source),
    async close() {
      closing.abort(new ProviderError("unreachable", "The gateway is shutting down."));
      await Promise.allSettled(pending.values());
    },
  };
}

/** The sources of replaced keys are not asked for again. */
function dropEnded(current: Map<string, Issued<unknown>>, nowMs: number): void {
  for (const [source, { expiresAt }] of current) if (expiresAt <= nowMs) current.delete(source);
}
