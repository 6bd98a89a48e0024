import type { Clock } from "../../lib/clock.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Database } from "../../platform/database/database.ts";
import { updateLastUse } from "./secret-store.ts";
import type { StoredSecrets, UsedSecret } from "./stored-secrets.ts";

const checkMs = 1_000;
/** How often this process writes the last use of one version. */
const writeMs = 60_000;

/** Writes when each secret was last used, for operators. Calls only set a flag. */
export function recordSecretUses(options: {
  database: Database;
  secrets: Pick<StoredSecrets, "takeUses">;
  clock: Clock;
  /** Called on each failed write; `onRecovery` on each successful one. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): { close(): Promise<void> } {
  const { database, secrets, clock } = options;
  /** Used, and not yet written. */
  const pending = new Map<string, UsedSecret>();
  const writtenAtMs = new Map<string, number>();
  let writing: Promise<void> | null = null;

  const isDue = (name: string): boolean =>
    clock.monotonicMs() - (writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) >= writeMs;

  async function write(due: readonly [string, UsedSecret][]): Promise<void> {
    try {
      for (const [name, secret] of due) {
        await updateLastUse(database, secret, clock.now());
        writtenAtMs.set(name, clock.monotonicMs());
        pending.delete(name);
      }
      options.onRecovery?.();
    } catch (error) {
      // The next check retries. No call depends on it.
      options.onTrouble(error);
    }
  }

  function writeIfDue(): void {
    for (const secret of secrets.takeUses()) pending.set(`${secret.name} ${secret.version}`, secret);
    const due = [...pending].filter(([name]) => isDue(name));
    if (due.length === 0 || writing !== null) return;
    writing = write(due).finally(() => {
      writing = null;
    });
  }

  const stop = repeat(checkMs, writeIfDue);
  return {
    async close() {
      stop();
      await writing;
    },
  };
}
