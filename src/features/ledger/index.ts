/**
 * The ledger: the only writer of money. It is double-entry and only ever added to.
 *
 * Promises: nothing is answered before it is durable. Nothing is spent that is not there, on any number of processes:
 * each account's operations happen one after another, under the lock of its wallet. Whatever is sent twice happens once,
 * and is answered the same. One function decides, whether operations are committed in groups or inside a caller's
 * transaction. What was charged can be computed again for ever. Credit whose funding went away is taken back as far as it
 * is there; what is not is owed, and nothing is spent until it is paid.
 */
export { bookTopUp, openHolds, releaseHold, settleHold } from "./apply-within.ts";
export { addBalanceRoutes } from "./balance-routes.ts";
export { type BillColumns, toBill } from "./bill-columns.ts";
export { bookCredit, type CreditRequest } from "./book-credit.ts";
export { clawBack, computeDebt } from "./claw-back.ts";
export { type Clawback, listClawbacks, listDebts } from "./clawback-store.ts";
export { decideGiftEnd, isCodeText, type RedeemCode } from "./code.ts";
export { listCodes } from "./code-store.ts";
export { createCodes } from "./create-codes.ts";
export { type ConclusionOf, createLedger, type Ledger } from "./create-ledger.ts";
export { explainRefusedHold } from "./explain-refused-hold.ts";
export { sumOpenHolds } from "./hold-totals-store.ts";
export { findFreeze, invariants, unfreezeWallet, type Violation } from "./invariant-store.ts";
export { listKeySpending } from "./key-spending-store.ts";
export { requireLedgerCurrency } from "./ledger-currency.ts";
export { type Cause, deriveTransactionId, type Unit } from "./ledger-state.ts";
export type {
  ExtendOperation,
  HoldOperation,
  Operation as LedgerOperation,
  ReleaseOperation,
  ResultOf,
  SettleOperation,
} from "./operation.ts";
export { listAccountsWithEndedPeriod } from "./plan-period-store.ts";
export { createStatementCsv, presentAmount } from "./present-statement-csv.ts";
export { hasFunds, hasPaid, readBalance } from "./read-balance.ts";
export { redeemCode, voidCode } from "./redeem-code.ts";
export { renewPlan } from "./renew-plan.ts";
export { rollUpUsage } from "./roll-up-usage.ts";
export {
  countStatement,
  findEntryNumber,
  listStatement,
  listStatementPage,
  type StatementEntry,
  type StatementRange,
} from "./statement-store.ts";
export { sweepLedger } from "./sweep-ledger.ts";
export { type CheckOutcome, checkAccounts, checkChangedAccounts, findViolations } from "./verify-ledger.ts";
export { type Coverage, checkEverything, checkSinceSeals, findViolationsSinceSeals } from "./verify-since-seals.ts";
export { waiveDebts } from "./waive-debts.ts";
export { type DoubtfulCharge, withdrawCharge } from "./withdraw-charge.ts";
