import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { RefusalReason } from "./ledger-state.ts";

/** What a caller is told whose money could not be put on hold: how much was wanted, and how much of it is missing. */
export function explainRefusedHold(
  { reason, missing }: { reason: RefusalReason; missing: bigint },
  { held, currency }: { held: Nano; currency: string },
): AppError {
  if (reason === "account-frozen") {
    return new AppError(
      "account_suspended",
      "The account is suspended: see Billing in the console, or contact the service's operator.",
    );
  }
  const needs = `This request sets ${presentMoney(held)} ${currency} aside`;
  const lacks = `${presentMoney(nano(missing))} ${currency}`;
  return reason === "key-budget-exceeded"
    ? new AppError("key_budget_exceeded", `${needs}, which is ${lacks} more than is left of the API key's budget.`)
    : new AppError("insufficient_balance", `${needs}, which is ${lacks} more than the balance has. Recharge it.`);
}
