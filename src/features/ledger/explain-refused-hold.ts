import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HoldOperation, ResultOf } from "./operation.ts";

/** What an error for a refused hold tells the caller: the currency of its amounts, and the site with the fix. */
export type RefusalTexts = { currency: string; siteUrl?: string };

/** The caller's error for a refused hold. */
export function explainRefusedHold(
  result: ResultOf<HoldOperation>,
  { held, currency, siteUrl }: RefusalTexts & { held: Nano },
): AppError {
  if (result.kind === "contended") return createContended();
  invariant(result.kind === "refused", `a new hold returned ${result.kind}`);
  const { reason, missing } = result;
  if (reason === "account-frozen") {
    return new AppError(
      "account_suspended",
      "The account is suspended. Open Billing in the console, or contact the service's operator.",
    );
  }
  const present = (amount: bigint): string => `${presentMoney(nano(amount))} ${currency}`;
  const needs = `This request reserves ${present(held)}.`;
  const left = present(held - missing);
  const place = (page: string): string => (siteUrl === undefined ? "" : ` at ${siteUrl}/console/${page}`);
  return reason === "key-budget-exceeded"
    ? new AppError(
        "key_budget_exceeded",
        `${needs} The API key's budget has ${left} left. Raise it by ${present(missing)}${place("keys")} to continue.`,
      )
    : new AppError(
        "insufficient_balance",
        `${needs} Your available balance is ${left}. Add ${present(missing)}${place("billing")} to continue.`,
      );
}

/** The balance would suffice, but is reserved until the calls that have just started have their holds. */
export function createContended(): AppError {
  return new AppError(
    "overloaded",
    "Calls that have just started may need the rest of the balance. Try again in a moment.",
  );
}
