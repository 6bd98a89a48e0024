import { hash } from "node:crypto";
import type { GrantOperation, HoldOperation, Operation, SettleOperation } from "./operation.ts";

type Fingerprinted = Extract<Operation, { id: string }> | SettleOperation;

/**
 * Tells whether an id that is met again stands for the same request. Ends of time are left out: who sends a request
 * again may count them from another moment.
 */
export function fingerprintOperation(operation: Fingerprinted): string {
  return hash("sha256", JSON.stringify(describe(operation).map(String)), "base64url");
}

function describe(operation: Fingerprinted): unknown[] {
  switch (operation.kind) {
    case "hold":
      return [operation.kind, operation.accountId, operation.amount, ...describeHold(operation)];
    case "settle":
      return [operation.kind, operation.accountId, operation.overrun, ...describeBill(operation)];
    case "top-up":
      return [operation.kind, operation.accountId, operation.amount, operation.channel];
    case "grant":
      return [operation.kind, operation.accountId, operation.amount, ...describeGrant(operation)];
    case "adjust":
      return [operation.kind, operation.accountId, operation.amount];
    case "refund":
      return [operation.kind, operation.accountId, operation.amount, operation.chargeId];
  }
}

function describeHold({ quota, budget, cause }: HoldOperation): unknown[] {
  return [quota?.kind, quota?.units, budget?.keyId, cause.kind, cause.id];
}

function describeGrant({ unit, channel }: GrantOperation): unknown[] {
  return [unit, channel];
}

function describeBill({ bill }: SettleOperation): unknown[] {
  const items = bill.items.flatMap(({ name, quantity, rate }) => [name, quantity, rate]);
  return [bill.priceId, bill.per, bill.minimum, bill.quotaUnits, ...items];
}
