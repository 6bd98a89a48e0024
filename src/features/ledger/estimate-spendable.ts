import { findPeriodStart, type KeyBudget } from "../../lib/budget.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { isExpired } from "./draft.ts";
import { type LedgerState, nameSpending } from "./ledger-state.ts";

/**
 * Estimates from the cache how much money a caller can put on hold: a hint for what to try, never an authorization. `null`
 * if the account or the budget's period is not cached.
 */
export function estimateSpendable(
  state: LedgerState,
  accountId: AccountId,
  { budget, now }: { budget: KeyBudget | null; now: Date },
): Nano | null {
  const wallet = state.wallets.get(accountId);
  if (wallet === undefined) return null;
  if (wallet.isFrozen) return nano(0n);
  let available = 0n;
  for (const id of state.bucketIds.get(accountId) ?? []) {
    const bucket = state.buckets.get(id);
    if (bucket?.unit === "money" && !isExpired(bucket, now)) available += bucket.posted - bucket.held;
  }
  if (budget === null) return nano(available);
  const spending = state.spending.get(
    nameSpending({ keyId: budget.keyId, startsAt: findPeriodStart(budget.period, now) }),
  );
  if (spending === undefined) return null;
  const left = budget.amount - spending.held - spending.spent;
  return nano(left < available ? (left > 0n ? left : 0n) : available);
}
