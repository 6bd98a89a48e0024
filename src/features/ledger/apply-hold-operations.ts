import { computeCharge } from "../../lib/bill.ts";
import { findPeriodStart } from "../../lib/budget.ts";
import type { AccountId, HoldId, TransactionId } from "../../lib/ids.ts";
import {
  addLine,
  compareBuckets,
  type Draft,
  debitBucket,
  placeOnHold,
  requireBucket,
  sumAvailable,
  unholdBucket,
} from "./draft.ts";
import { fingerprintOperation } from "./fingerprint.ts";
import {
  deriveTransactionId,
  type Hold,
  type HoldLine,
  type KeySpending,
  type RefusalReason,
  type Unit,
} from "./ledger-state.ts";
import type {
  ExpireHoldOperation,
  ExtendOperation,
  HoldOperation,
  ReleaseOperation,
  ResultOf,
  SettleOperation,
} from "./operation.ts";

export function applyHold(draft: Draft, operation: HoldOperation): ResultOf<HoldOperation> {
  const fingerprint = fingerprintOperation(operation);
  const known = draft.findHold(operation.id);
  if (known !== undefined) return replayResult(known, fingerprint);
  if (operation.early !== undefined) draft.confirmEarly(operation.accountId, operation.early);
  const payment = choosePayment(draft, operation);
  // An early call spends its own reserve.
  const reserved = operation.early === undefined ? limitReserved(draft, operation.accountId, payment) : 0n;
  const refusal = decideRefusal(draft, operation, payment);
  if (refusal === null && isContended(draft, operation.accountId, payment, reserved)) return contend(draft, operation);
  const hold: Hold = {
    id: operation.id,
    accountId: operation.accountId,
    unit: payment.unit,
    amount: payment.amount,
    lines: refusal === null ? placeOnHold(draft, operation.accountId, { ...payment, reserved }) : [],
    state: refusal === null ? "open" : "refused",
    settled: 0n,
    refusal,
    fingerprint,
    settlementFingerprint: null,
    keyId: operation.keyId ?? operation.budget?.keyId ?? null,
    // Budgets limit money, not quotas.
    budget: payment.unit === "money" && refusal === null ? findBudgetPeriod(operation, draft.now) : null,
    cause: operation.cause,
    expiresAt: operation.expiresAt,
    openedAt: draft.now,
    resolvedAt: refusal === null ? null : draft.now,
  };
  draft.openHold(hold);
  if (refusal !== null) return { kind: "refused", ...refusal, isReplay: false };
  addToSpending(draft, hold, { held: hold.amount, spent: 0n, budget: operation.budget?.amount ?? null });
  return { kind: "held", unit: hold.unit, amount: hold.amount, isReplay: false };
}

function replayResult(known: Hold, fingerprint: string): ResultOf<HoldOperation> {
  if (known.fingerprint !== fingerprint) return { kind: "id-reused" };
  if (known.refusal !== null) return { kind: "refused", ...known.refusal, isReplay: true };
  return { kind: "held", unit: known.unit, amount: known.amount, isReplay: true };
}

/** From the quota if it covers everything, else from money. Never from both. */
function choosePayment(draft: Draft, { accountId, amount, quota }: HoldOperation): { unit: Unit; amount: bigint } {
  if (quota === null) return { unit: "money", amount };
  if (sumAvailable(draft, accountId, quota.kind) >= quota.units) return { unit: quota.kind, amount: quota.units };
  const hasQuota = draft.listBucketIds(accountId).some((id) => draft.findBucket(id)?.unit === quota.kind);
  // Another process may release a hold of the quota, which would change this decision.
  if (hasQuota) draft.requireExact(accountId);
  return { unit: "money", amount };
}

/** The budget period that a hold counts in; `null` for a key without a budget. */
export function findBudgetPeriod({ budget }: HoldOperation, now: Date): Hold["budget"] {
  return budget === null ? null : { keyId: budget.keyId, startsAt: findPeriodStart(budget.period, now) };
}

function decideRefusal(
  draft: Draft,
  operation: HoldOperation,
  payment: { unit: Unit; amount: bigint },
): Hold["refusal"] {
  if (draft.findWallet(operation.accountId)?.isFrozen === true) return { reason: "account-frozen", missing: 0n };
  if (payment.unit !== "money") return null;
  const period = findBudgetPeriod(operation, draft.now);
  if (operation.budget !== null && period !== null) {
    const left = sumBudgetLeft(draft, operation.accountId, period, operation.budget.amount);
    if (left < payment.amount) return { reason: "key-budget-exceeded", missing: payment.amount - left };
  }
  const available = sumAvailable(draft, operation.accountId, payment.unit);
  return available < payment.amount ? { reason: "insufficient-balance", missing: payment.amount - available } : null;
}

/** Whether the balance covers the amount but not the reserve beside it. */
function isContended(
  draft: Draft,
  accountId: AccountId,
  { unit, amount }: { unit: Unit; amount: bigint },
  reserved: bigint,
): boolean {
  return reserved > 0n && sumAvailable(draft, accountId, unit) - reserved < amount;
}

function contend(draft: Draft, { accountId }: { accountId: AccountId }): { kind: "contended" } {
  draft.revokeReserve(accountId);
  return { kind: "contended" };
}

export function applyExtend(draft: Draft, operation: ExtendOperation): ResultOf<ExtendOperation> {
  const hold = findOpenHold(draft, operation);
  if ("kind" in hold) return hold;
  const wanted = hold.unit === "money" ? operation.amount : operation.quotaUnits;
  const more = wanted > hold.amount ? wanted - hold.amount : 0n;
  const refuse = (reason: RefusalReason, missing: bigint): ResultOf<ExtendOperation> => ({
    kind: "refused",
    reason,
    missing,
    isReplay: false,
  });
  if (more > 0n) {
    if (draft.findWallet(hold.accountId)?.isFrozen === true) return refuse("account-frozen", 0n);
    const left = sumHoldBudgetLeft(draft, hold, operation.budgetAmount);
    if (left !== null && left < more) return refuse("key-budget-exceeded", more - left);
    const available = sumAvailable(draft, hold.accountId, hold.unit);
    if (available < more) return refuse("insufficient-balance", more - available);
    const wantedMore = { unit: hold.unit, amount: more };
    const reserved = limitReserved(draft, hold.accountId, wantedMore);
    if (isContended(draft, hold.accountId, wantedMore, reserved)) return contend(draft, hold);
  }
  const raised = raiseHold(draft, hold, more, operation.budgetAmount);
  const isLater = operation.expiresAt !== null && operation.expiresAt > raised.expiresAt;
  const changed = isLater && operation.expiresAt !== null ? { ...raised, expiresAt: operation.expiresAt } : raised;
  if (changed !== hold) draft.changeHold(changed);
  // Nothing is written that would verify that the hold is still open.
  else draft.requireExact(hold.accountId);
  return { kind: "extended", amount: changed.amount };
}

/** Returns the same object if there is nothing to add. */
function raiseHold(draft: Draft, hold: Hold, more: bigint, budget: bigint | null): Hold {
  if (more === 0n) return hold;
  const wanted = { unit: hold.unit, amount: more };
  const reserved = limitReserved(draft, hold.accountId, wanted);
  const added = placeOnHold(draft, hold.accountId, { ...wanted, reserved });
  addToSpending(draft, hold, { held: more, spent: 0n, budget });
  return { ...hold, amount: hold.amount + more, lines: mergeLines(hold.lines, added) };
}

/** Only money is reserved, never a quota. */
function limitReserved(draft: Draft, accountId: AccountId, { unit, amount }: { unit: Unit; amount: bigint }): bigint {
  return unit === "money" ? draft.limitReserved(accountId, sumAvailable(draft, accountId, unit) - amount) : 0n;
}

function mergeLines(lines: readonly HoldLine[], added: readonly HoldLine[]): HoldLine[] {
  const amounts = new Map(lines.map(({ bucketId, amount }) => [bucketId, amount]));
  for (const { bucketId, amount } of added) amounts.set(bucketId, (amounts.get(bucketId) ?? 0n) + amount);
  return [...amounts].map(([bucketId, amount]) => ({ bucketId, amount }));
}

export function applySettle(draft: Draft, operation: SettleOperation): ResultOf<SettleOperation> {
  const fingerprint = fingerprintOperation(operation);
  const known = draft.findHold(operation.holdId);
  if (known?.state === "settled" && known.accountId === operation.accountId) {
    if (known.settlementFingerprint !== fingerprint) return { kind: "already-resolved", state: "settled" };
    const { unit, settled } = known;
    return { kind: "settled", unit, paid: settled, lost: computeCost(unit, operation) - settled, isReplay: true };
  }
  const hold = findOpenHold(draft, operation);
  if ("kind" in hold) return hold;
  const cost = computeCost(hold.unit, operation);
  const missing = cost > hold.amount ? cost - hold.amount : 0n;
  if (missing > 0n && operation.overrun === "refuse") return { kind: "over-hold", missing };
  const raised = raiseHold(draft, hold, limitOverrun(draft, hold, operation, missing), operation.budgetAmount);
  const paid = cost < raised.amount ? cost : raised.amount;
  const lost = cost - paid;
  const charge = { id: deriveTransactionId(hold.id), fingerprint };
  const legs = settleLines(draft, raised, paid, charge);
  if (lost > 0n) postLoss(draft, raised, { amount: lost, leg: legs.length, charge });
  if (cost > 0n) rememberCharge(draft, raised, legs, charge);
  draft.changeHold({
    ...raised,
    state: "settled",
    settled: paid,
    settlementFingerprint: fingerprint,
    resolvedAt: draft.now,
  });
  addToSpending(draft, raised, { held: -raised.amount, spent: paid, budget: null });
  draft.changes.charges.push({
    id: charge.id,
    holdId: hold.id,
    accountId: hold.accountId,
    keyId: hold.keyId,
    unit: hold.unit,
    bill: operation.bill,
    paid,
    lost,
    createdAt: draft.now,
  });
  return { kind: "settled", unit: hold.unit, paid, lost, isReplay: false };
}

function computeCost(unit: Unit, { bill }: SettleOperation): bigint {
  return unit === "money" ? computeCharge(bill) : bill.quotaUnits;
}

/** How much beyond the hold can be taken: limited by the balance and the key's budget, and nothing if frozen. */
function limitOverrun(draft: Draft, hold: Hold, operation: SettleOperation, missing: bigint): bigint {
  if (operation.overrun === "charge-hold") return 0n;
  if (missing === 0n || draft.findWallet(hold.accountId)?.isFrozen === true) return 0n;
  const reserved = limitReserved(draft, hold.accountId, { unit: hold.unit, amount: missing });
  const unreserved = sumAvailable(draft, hold.accountId, hold.unit) - reserved;
  const available = unreserved > 0n ? unreserved : 0n;
  const budgetLeft = sumHoldBudgetLeft(draft, hold, operation.budgetAmount);
  return [missing, available, ...(budgetLeft === null ? [] : [budgetLeft])].reduce((a, b) => (a < b ? a : b));
}

type ChargeName = { id: TransactionId; fingerprint: string };

/** Charges the hold's buckets in spend order, and releases the rest of each. */
function settleLines(draft: Draft, hold: Hold, paid: bigint, { id, fingerprint }: ChargeName): HoldLine[] {
  const { cause } = hold;
  let legs: HoldLine[] = [];
  let left = paid;
  for (const line of sortLines(draft, hold.lines)) {
    const amount = line.amount < left ? line.amount : left;
    left -= amount;
    if (amount === 0n) {
      unholdBucket(draft, line);
    } else {
      const { bucketId, amount: unheld } = line;
      const movement = { id, leg: legs.length, kind: "charge", refundOf: null, fingerprint, cause } as const;
      debitBucket(draft, movement, { bucketId, amount, unheld, to: "revenue" });
      legs = addLine(legs, { bucketId, amount });
    }
  }
  return legs;
}

/** Lets a refund in the same batch find the charge. */
function rememberCharge(draft: Draft, hold: Hold, legs: readonly HoldLine[], { id, fingerprint }: ChargeName): void {
  const kind = legs.length === 0 ? "loss" : "charge";
  const { accountId, unit } = hold;
  const known = { fingerprint, accountId, kind, unit, legs, refunded: 0n } as const;
  draft.changes.transactions.set(id, known);
}

function sortLines(draft: Draft, lines: readonly HoldLine[]): readonly HoldLine[] {
  if (lines.length < 2) return lines;
  return lines.toSorted((a, b) => compareBuckets(requireBucket(draft, a.bucketId), requireBucket(draft, b.bucketId)));
}

function postLoss(
  draft: Draft,
  hold: Hold,
  { amount, leg, charge }: { amount: bigint; leg: number; charge: ChargeName },
): void {
  draft.post({
    id: charge.id,
    leg,
    accountId: hold.accountId,
    kind: "loss",
    unit: hold.unit,
    debit: "loss",
    credit: "revenue",
    amount,
    entry: null,
    refundOf: null,
    fingerprint: charge.fingerprint,
    cause: hold.cause,
    createdAt: draft.now,
  });
}

export function applyRelease(draft: Draft, operation: ReleaseOperation): ResultOf<ReleaseOperation> {
  const hold = findOpenHold(draft, operation);
  if ("kind" in hold) {
    return hold.kind === "already-resolved" && hold.state === "released" ? { kind: "released", isReplay: true } : hold;
  }
  endUnsettled(draft, hold, "released");
  return { kind: "released", isReplay: false };
}

export function applyExpireHold(draft: Draft, operation: ExpireHoldOperation): ResultOf<ExpireHoldOperation> {
  const hold = findOpenHold(draft, operation);
  if ("kind" in hold) {
    return hold.kind === "already-resolved" && hold.state === "expired" ? { kind: "expired", isReplay: true } : hold;
  }
  if (hold.expiresAt > draft.now) return { kind: "not-due" };
  endUnsettled(draft, hold, "expired");
  return { kind: "expired", isReplay: false };
}

function endUnsettled(draft: Draft, hold: Hold, state: "released" | "expired"): void {
  for (const line of hold.lines) unholdBucket(draft, line);
  draft.changeHold({ ...hold, state, resolvedAt: draft.now });
  addToSpending(draft, hold, { held: -hold.amount, spent: 0n, budget: null });
}

type NotOpen = Extract<ResultOf<ReleaseOperation>, { kind: "no-such-hold" | "already-resolved" }>;

/** Another account's hold is not found. */
function findOpenHold(draft: Draft, asked: { accountId: AccountId; holdId: HoldId }): Hold | NotOpen {
  const hold = draft.findHold(asked.holdId);
  if (hold === undefined || hold.accountId !== asked.accountId) return { kind: "no-such-hold" };
  return hold.state === "open" ? hold : { kind: "already-resolved", state: hold.state };
}

function addToSpending(
  draft: Draft,
  hold: Hold,
  { held, spent, budget }: Pick<KeySpending, "held" | "spent"> & { budget: bigint | null },
): void {
  if (hold.budget === null) return;
  const spending = draft.getSpending({ ...hold.budget, accountId: hold.accountId });
  draft.changeSpending({ ...spending, held: spending.held + held, spent: spending.spent + spent }, budget);
}

/** `null` if no budget limits the hold. */
function sumHoldBudgetLeft(draft: Draft, hold: Hold, budgetAmount: bigint | null): bigint | null {
  if (hold.budget === null || budgetAmount === null) return null;
  return sumBudgetLeft(draft, hold.accountId, hold.budget, budgetAmount);
}

function sumBudgetLeft(
  draft: Draft,
  accountId: AccountId,
  period: { keyId: string; startsAt: Date },
  amount: bigint,
): bigint {
  const { held, spent } = draft.getSpending({ ...period, accountId });
  const left = amount - held - spent;
  return left > 0n ? left : 0n;
}
