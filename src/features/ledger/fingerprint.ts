import { hash } from "node:crypto";
import { isCostItem } from "../../lib/upstream-cost.ts";
import type { AdjustOperation, GrantOperation, HoldOperation, Operation, SettleOperation } from "./operation.ts";

type Fingerprinted = Extract<Operation, { id: string }> | SettleOperation;

/**
 * Detects whether a repeated id belongs to the same request. Expiry times are excluded: a retry may compute them from
 * another moment.
 */
export function fingerprintOperation(operation: Fingerprinted): string {
  return hash("sha256", JSON.stringify(describe(operation)), "base64url");
}

/** Stored hashes depend on every string here: never change them. */
function describe(operation: Fingerprinted): string[] {
  switch (operation.kind) {
    case "hold":
      return describeHold(operation);
    case "settle":
      return describeSettlement(operation);
    case "top-up":
      return [operation.kind, operation.accountId, String(operation.amount), operation.channel];
    case "grant":
      return describeGrant(operation);
    case "adjust":
      return describeAdjustment(operation);
    case "refund":
      return [operation.kind, operation.accountId, String(operation.amount), operation.chargeId];
  }
}

function describeHold({ kind, accountId, amount, quota, budget, cause }: HoldOperation): string[] {
  const texts = [kind, accountId, String(amount), String(quota?.kind), String(quota?.units)];
  texts.push(String(budget?.keyId), cause.kind, cause.id);
  return texts;
}

/** Without `reverses`, the same strings as before reversals existed. */
function describeAdjustment({ kind, accountId, amount, reverses }: AdjustOperation): string[] {
  const texts = [kind, accountId, String(amount)];
  return reverses === undefined ? texts : [...texts, reverses];
}

function describeGrant({ kind, accountId, amount, unit, channel }: GrantOperation): string[] {
  return [kind, accountId, String(amount), unit, channel];
}

function describeSettlement({ kind, accountId, overrun, bill }: SettleOperation): string[] {
  const texts = [kind, accountId, overrun, bill.priceId];
  texts.push(String(bill.per), String(bill.minimum), String(bill.quotaUnits));
  for (const { name, quantity, rate } of bill.items) {
    // A retry may find another cost sheet.
    if (!isCostItem(name)) texts.push(name, String(quantity), String(rate));
  }
  return texts;
}
