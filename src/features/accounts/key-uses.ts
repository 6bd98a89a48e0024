import { setTimeout as wait } from "node:timers/promises";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { upsertKeyUses } from "./key-use-store.ts";

export type KeyUses = {
  /** Remembers that a key was used just now. Costs a look into a map; what is new is written a moment later. */
  note(keyId: KeyId, now: Date): void;
  /** Writes what was noted last. */
  close(): Promise<void>;
};

type KeyUsesOptions = { database: Database; onTrouble(error: unknown): void };

const notedEveryMs = 60_000;
/** Somebody may wait to see that a new key has arrived, so not much longer. */
const writtenAfterMs = 100;
const keysMax = 50_000;

/** Notes when keys are used, each at most once a minute, and those of a moment with one call of the database. */
export function createKeyUses({ database, onTrouble }: KeyUsesOptions): KeyUses {
  const notedAtMs = new Map<KeyId, number>();
  const writer = createCoalescer<[KeyId, Date], void>({
    gather: (hurry) => wait(writtenAfterMs, undefined, { signal: hurry }).catch(() => {}),
    async run(uses) {
      await upsertKeyUses(database, new Map(uses));
      return [];
    },
    batchMax: keysMax,
    waitingMax: keysMax,
    // What could not be written is lost: the next use is noted again in a minute, and no request fails for it.
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
