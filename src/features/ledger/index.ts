/**
 * The ledger: the only writer of money. Double-entry and append-only.
 *
 * Promises: a result is returned only once it is durable. No account overspends, on any number of processes: each account's
 * operations are serialized by the lock of its wallet. Operations are idempotent: a repeated one returns the same result.
 * One function decides, in group commits and in a caller's transaction. Every charge can be recomputed from its stored
 * bill. A clawback takes credit whose payment was reversed; the rest becomes debt, and the account cannot spend until it
 * is paid.
 */
export { bookTopUp, openHolds, releaseHold, settleHold } from "./apply-within.ts";
export { addBalanceRoutes } from "./balance-routes.ts";
export { bookCredit, type CreditRequest, waiveDebts } from "./book-credit.ts";
export { clawBack, computeDebt } from "./claw-back.ts";
export { type Clawback, listClawbacks, listDebts } from "./clawback-store.ts";
export { closePeriod } from "./close-period.ts";
export { decideGiftEnd, isCodeText, type RedeemCode } from "./code.ts";
export { listCodes } from "./code-store.ts";
export { createCodes } from "./create-codes.ts";
export { type ConclusionOf, createLedger, type Ledger } from "./create-ledger.ts";
export { explainRefusedHold, type RefusalTexts } from "./explain-refused-hold.ts";
export { countFrozen, findFreeze, invariants, unfreezeWallet, type Violation } from "./invariant-store.ts";
export { requireLedgerCurrency } from "./ledger-currency.ts";
export { type Cause, deriveTransactionId, type PostingKind, type Unit } from "./ledger-state.ts";
export { listKeySpending, sumMoney, sumOpenHolds, sumSpentSince } from "./ledger-store.ts";
export type {
  ExtendOperation,
  HoldOperation,
  Operation as LedgerOperation,
  ReleaseOperation,
  ResultOf,
  SettleOperation,
} from "./operation.ts";
export type { PeriodSums } from "./period-store.ts";
export { listAccountsWithEndedPeriod } from "./plan-period-store.ts";
export { createStatementCsv, presentAmount } from "./present-statement-csv.ts";
export { hasFunds, hasPaid, readBalance } from "./read-balance.ts";
export { redeemCode, voidCode } from "./redeem-code.ts";
export { renewPlan } from "./renew-plan.ts";
export { rollUpUsage } from "./roll-up-usage.ts";
export {
  type BillColumns,
  countStatement,
  findEntryNumber,
  listStatement,
  listStatementPage,
  type StatementEntry,
  type StatementRange,
  toBill,
} from "./statement-store.ts";
export { sweepLedger } from "./sweep-ledger.ts";
export { findOldestHoldEnd } from "./sweep-store.ts";
export { type CheckOutcome, checkAccounts, checkChangedAccounts, findViolations } from "./verify-ledger.ts";
export { type Coverage, checkEverything, checkSinceSeals, findViolationsSinceSeals } from "./verify-since-seals.ts";
export { type DoubtfulCharge, withdrawCharge } from "./withdraw-charge.ts";
