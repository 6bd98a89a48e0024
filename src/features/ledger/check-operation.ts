import { type Bill, computeCharge, quoteDiscount } from "../../lib/bill.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { amountMax, quotaMax } from "./ledger-state.ts";
import type { HoldOperation, Operation } from "./operation.ts";

/** A longer hold is a bug: it would lock the customer's money. */
const holdDaysMax = 30;
const dayMs = 24 * 60 * 60 * 1000;

const idPatterns = { hold: /^hold_[0-9a-z]{1,64}$/, txn: /^txn_[0-9a-z]{1,64}(\.[a-z]{1,16})?$/ };

/** Throws on operations that are invalid in every state of the ledger. */
export function checkOperation(operation: Operation, now: Date): void {
  if ("cause" in operation) requireText("cause", operation.cause.id);
  switch (operation.kind) {
    case "hold":
      checkHold(operation, now);
      break;
    case "extend":
      requireAmount("amount", operation.amount);
      if (operation.quotaUnits !== 0n) requireAmount("quota_units", operation.quotaUnits, quotaMax);
      break;
    case "settle":
      checkBill(operation.bill);
      break;
    case "grant":
      requireId("txn", operation.id);
      requireAmount("amount", operation.amount, operation.unit === "money" ? amountMax : quotaMax);
      break;
    case "top-up":
    case "refund":
      requireId("txn", operation.id);
      requireAmount("amount", operation.amount);
      break;
    case "adjust":
      requireId("txn", operation.id);
      requireAmount("amount", operation.amount < 0n ? -operation.amount : operation.amount);
      break;
    case "release":
    case "expire-hold":
    case "expire-bucket":
      break;
  }
}

function checkHold({ id, amount, quota, budget, expiresAt }: HoldOperation, now: Date): void {
  requireId("hold", id);
  requireAmount("amount", amount);
  if (quota !== null) requireAmount("quota", quota.units, quotaMax);
  if (budget !== null && (budget.amount < 0n || budget.amount > amountMax))
    throw createWrongAmount("budget", amountMax);
  const leftMs = expiresAt.getTime() - now.getTime();
  if (leftMs > 0 && leftMs <= holdDaysMax * dayMs) return;
  throw new AppError("invalid_parameter", `A hold must expire in the future, within ${holdDaysMax} days.`, {
    param: "expires_at",
  });
}

function checkBill(bill: Bill): void {
  requireText("price", bill.priceId);
  requireAmount("per", bill.per);
  requirePart("minimum", bill.minimum);
  requirePart("quota_units", bill.quotaUnits);
  for (const { name, quantity, rate } of bill.items) {
    requirePart(name, quantity);
    // Only the discount of a quote is taken off.
    if (isWrongPart(name === quoteDiscount ? -rate : rate)) throw createWrongAmount(`${name} rate`, amountMax);
  }
  if (computeCharge(bill) > amountMax) throw createWrongAmount("amount", amountMax);
}

/** A part of a bill may be zero. */
function requirePart(param: string, value: bigint): void {
  if (isWrongPart(value)) throw createWrongAmount(param, amountMax);
}

function isWrongPart(value: bigint): boolean {
  return value < 0n || value > amountMax;
}

function requireAmount(param: string, amount: bigint, max = amountMax): void {
  if (amount < 1n || amount > max) throw createWrongAmount(param, max);
}

function createWrongAmount(param: string, max: bigint): AppError {
  return new AppError(
    "invalid_parameter",
    `${param} is out of range. It must be positive and at most ${max} of its smallest unit.`,
    {
      param,
    },
  );
}

function requireId(prefix: keyof typeof idPatterns, id: string): void {
  if (idPatterns[prefix].test(id)) return;
  throw new AppError("invalid_parameter", `${id} is not a valid id. It must begin with ${prefix}_.`, { param: "id" });
}

function requireText(param: string, text: string): void {
  if (text.length >= 1 && text.length <= 200) return;
  throw new AppError("invalid_parameter", `${param} must have 1 to 200 characters.`, { param });
}
