import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HoldOperation, ResultOf } from "./operation.ts";

/** The error for a new hold that was not opened: how much was wanted, and how much of it is missing. */
export function explainRefusedHold(
  result: ResultOf<HoldOperation>,
  { held, currency }: { held: Nano; currency: string },
): AppError {
  if (result.kind === "contended") return createContended();
  invariant(result.kind === "refused", `a new hold was answered with ${result.kind}`);
  const { reason, missing } = result;
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

/** Not for lack of money: it is there again as soon as the calls that have just started have their holds. */
export function createContended(): AppError {
  return new AppError(
    "overloaded",
    "Calls that have just started may need the rest of the balance. Try again in a moment.",
  );
}
