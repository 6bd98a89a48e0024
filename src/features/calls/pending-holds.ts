import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";

/**
 * What the calls that have left before their holds are written may cost, for each account: so that no two of them count
 * on the same money.
 */
export type PendingHolds = {
  sum(accountId: AccountId): Nano;
  add(accountId: AccountId, amount: Nano): void;
  remove(accountId: AccountId, amount: Nano): void;
};

export function createPendingHolds(): PendingHolds {
  const sums = new Map<AccountId, bigint>();
  return {
    sum: (accountId) => nano(sums.get(accountId) ?? 0n),
    add(accountId, amount) {
      sums.set(accountId, (sums.get(accountId) ?? 0n) + amount);
    },
    remove(accountId, amount) {
      if (amount === 0n) return;
      const rest = (sums.get(accountId) ?? 0n) - amount;
      if (rest > 0n) sums.set(accountId, rest);
      else sums.delete(accountId);
    },
  };
}
