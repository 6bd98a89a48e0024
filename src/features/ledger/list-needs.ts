import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import { findBudgetPeriod } from "./apply-hold-operations.ts";
import type { Operation } from "./operation.ts";

/** The rows needed to decide operations. */
export type Needs = {
  accountIds: AccountId[];
  bucketIds: BucketId[];
  holdIds: HoldId[];
  transactionIds: TransactionId[];
  spending: { keyId: string; startsAt: Date; accountId: AccountId }[];
};

export function listNeeds(operations: readonly Operation[], now: Date): Needs {
  const needs: Needs = { accountIds: [], bucketIds: [], holdIds: [], transactionIds: [], spending: [] };
  const accountIds = new Set<AccountId>();
  for (const operation of operations) {
    accountIds.add(operation.accountId);
    switch (operation.kind) {
      case "hold": {
        needs.holdIds.push(operation.id);
        const period = findBudgetPeriod(operation, now);
        if (period !== null) needs.spending.push({ ...period, accountId: operation.accountId });
        break;
      }
      case "extend":
      case "settle":
      case "release":
      case "expire-hold":
        needs.holdIds.push(operation.holdId);
        break;
      case "expire-bucket":
        needs.bucketIds.push(operation.bucketId);
        break;
      case "refund":
        needs.transactionIds.push(operation.id, operation.chargeId);
        break;
      case "top-up":
      case "grant":
      case "adjust":
        needs.transactionIds.push(operation.id);
        break;
    }
  }
  needs.accountIds = [...accountIds].toSorted();
  return needs;
}
