import { setTimeout as wait } from "node:timers/promises";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { upsertKeyUses } from "./api-key-store.ts";

export type KeyUses = {
  /** Records a use. Costs one map lookup; the write follows asynchronously. */
  note(keyId: KeyId, now: Date): void;
  /** Flushes pending writes. */
  close(): Promise<void>;
};

const notedEveryMs = 60_000;
/** Short, because the console shows the first use of a new key live. */
const writtenAfterMs = 100;
const keysMax = 50_000;

/** Writes each key's last use at most once a minute, in batches. */
export function createKeyUses({
  database,
  onTrouble,
}: {
  database: Database;
  onTrouble(error: unknown): void;
}): KeyUses {
  const notedAtMs = new Map<KeyId, number>();
  const writer = createCoalescer<[KeyId, Date], void>({
    gather: (hurry) => wait(writtenAfterMs, undefined, { signal: hurry }).catch(() => {}),
    async run(uses) {
      await upsertKeyUses(database, new Map(uses));
      return [];
    },
    batchMax: keysMax,
    waitingMax: keysMax,
    // A failed write is dropped: the next use is recorded within a minute, and no request depends on it.
    onTrouble,
  });

  return {
    note(keyId, now) {
      const nowMs = now.getTime();
      const lastMs = notedAtMs.get(keyId);
      if (lastMs !== undefined && nowMs - lastMs < notedEveryMs) return;
      const [oldest] = notedAtMs.keys();
      if (oldest !== undefined && notedAtMs.size >= keysMax) notedAtMs.delete(oldest);
      notedAtMs.set(keyId, nowMs);
      writer.tell([keyId, now]);
    },
    close: writer.drain,
  };
}
