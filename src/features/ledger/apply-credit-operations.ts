import type { AccountId, PocketId, TransactionId } from "../../lib/ids.ts";
import { creditPocket, type Draft, debitPocket, isExpired, requirePocket } from "./draft.ts";
import { fingerprintOperation } from "./fingerprint.ts";
import { amountMax, type HoldLine, type Pocket, type PostingKind, quotaMax } from "./ledger-state.ts";
import type {
  AdjustOperation,
  ExpirePocketOperation,
  GrantOperation,
  RefundOperation,
  ResultOf,
  TopUpOperation,
} from "./operation.ts";

const postingKinds = { "top-up": "top_up", grant: "grant", adjust: "adjustment", refund: "refund" } as const;

function findPostingKind(operation: Booking): PostingKind {
  return operation.kind === "adjust" && operation.reverses !== undefined ? "reversal" : postingKinds[operation.kind];
}

/** Where a correction comes from or goes to. */
function findCounterpart({ reverses }: AdjustOperation): "adjustments" | `funding:${string}` {
  return reverses === undefined ? "adjustments" : `funding:${reverses}`;
}

type Booking = TopUpOperation | GrantOperation | AdjustOperation | RefundOperation;

export function applyTopUp(draft: Draft, operation: TopUpOperation): ResultOf<TopUpOperation> {
  const repeated = answerAgain(draft, operation);
  if (repeated !== null) return repeated;
  const pocket = findCash(draft, operation.accountId);
  if (pocket.posted + operation.amount > amountMax) return { kind: "too-large" };
  creditCash(draft, operation, `funding:${operation.channel}`);
  return { kind: "booked", isReplay: false };
}

export function applyGrant(draft: Draft, operation: GrantOperation): ResultOf<GrantOperation> {
  const repeated = answerAgain(draft, operation);
  if (repeated !== null) return repeated;
  const { id, accountId, unit, amount, expiresAt } = operation;
  if (expiresAt !== null && expiresAt <= draft.now) return { kind: "already-expired" };
  const total = draft
    .listPocketIds(accountId)
    .map((pocketId) => requirePocket(draft, pocketId))
    .reduce((sum, pocket) => (pocket.unit === unit ? sum + pocket.posted : sum), 0n);
  if (total + amount > (unit === "money" ? amountMax : quotaMax)) return { kind: "too-large" };
  const pocketId = derivePocketId(id);
  const kind = unit === "money" ? "gift" : "quota";
  draft.openPocket({ ...createEmptyPocket(draft, accountId), id: pocketId, kind, unit, expiresAt });
  const movement = describeMovement(operation, 0);
  creditPocket(draft, movement, { pocketId, amount, from: `funding:${operation.channel}` });
  remember(draft, operation, [{ pocketId, amount }]);
  return { kind: "booked", isReplay: false };
}

export function applyAdjust(draft: Draft, operation: AdjustOperation): ResultOf<AdjustOperation> {
  const repeated = answerAgain(draft, operation);
  if (repeated !== null) return repeated;
  const pocket = findCash(draft, operation.accountId);
  if (pocket.posted + operation.amount > amountMax) return { kind: "too-large" };
  if (operation.amount > 0n) {
    creditCash(draft, operation, findCounterpart(operation));
    return { kind: "booked", isReplay: false };
  }
  const amount = -operation.amount;
  const missing = amount - (pocket.posted - pocket.held);
  if (missing > 0n) return { kind: "refused", reason: "insufficient-balance", missing, isReplay: false };
  const movement = describeMovement(operation, 0);
  debitPocket(draft, movement, { pocketId: pocket.id, amount, unheld: 0n, to: findCounterpart(operation) });
  remember(draft, operation, [{ pocketId: pocket.id, amount }]);
  return { kind: "booked", isReplay: false };
}

export function applyRefund(draft: Draft, operation: RefundOperation): ResultOf<RefundOperation> {
  const repeated = answerAgain(draft, operation);
  if (repeated !== null) return repeated;
  const charge = draft.findTransaction(operation.chargeId);
  if (charge === undefined || charge.accountId !== operation.accountId || charge.kind !== "charge") {
    return { kind: "no-such-charge" };
  }
  const refundable = charge.legs.reduce((sum, { amount }) => sum + amount, 0n) - charge.refunded;
  if (operation.amount > refundable) return { kind: "over-charge", refundable };
  const lines = chooseRefundLines(charge.legs, charge.refunded, operation.amount);
  const max = charge.unit === "money" ? amountMax : quotaMax;
  if (lines.some(({ pocketId, amount }) => requirePocket(draft, pocketId).posted + amount > max)) {
    return { kind: "too-large" };
  }
  for (const [leg, { pocketId, amount }] of lines.entries()) {
    creditPocket(draft, describeMovement(operation, leg), { pocketId, amount, from: "revenue" });
  }
  remember(draft, operation, lines);
  draft.changes.transactions.set(operation.chargeId, { ...charge, refunded: charge.refunded + operation.amount });
  return { kind: "booked", isReplay: false };
}

/** Goes back the way it came: cash first, then the gifts, the one that expires last first. */
function chooseRefundLines(legs: readonly HoldLine[], refunded: bigint, amount: bigint): HoldLine[] {
  const lines: HoldLine[] = [];
  let skipped = refunded;
  let left = amount;
  for (const leg of legs.toReversed()) {
    const already = leg.amount < skipped ? leg.amount : skipped;
    skipped -= already;
    const open = leg.amount - already;
    const part = open < left ? open : left;
    left -= part;
    if (part > 0n) lines.push({ pocketId: leg.pocketId, amount: part });
  }
  return lines;
}

export function applyExpirePocket(draft: Draft, operation: ExpirePocketOperation): ResultOf<ExpirePocketOperation> {
  const pocket = draft.findPocket(operation.pocketId);
  if (pocket === undefined || pocket.accountId !== operation.accountId || pocket.kind === "cash") {
    return { kind: "no-such-pocket" };
  }
  const isDue = isExpired(pocket, draft.now);
  if (!isDue && operation.when === "due") return { kind: "not-due" };
  const ended = isDue ? pocket : { ...pocket, expiresAt: draft.now };
  if (ended !== pocket) draft.changePocket(ended);
  const amount = ended.posted - ended.held;
  if (amount === 0n) return { kind: "expired", amount };
  const movement = {
    // What is on hold stays until its work is done, so a pocket can expire in several parts.
    id: `txn_${pocket.id.slice("pkt_".length)}.${pocket.entryCount + 1n}` as const,
    leg: 0,
    kind: "expiry" as const,
    refundOf: null,
    fingerprint: "",
    cause: operation.cause,
  };
  debitPocket(draft, movement, { pocketId: pocket.id, amount, unheld: 0n, to: "expired" });
  return { kind: "expired", amount };
}

function answerAgain(
  draft: Draft,
  operation: Booking,
): { kind: "booked"; isReplay: true } | { kind: "id-reused" } | null {
  const known = draft.findTransaction(operation.id);
  if (known === undefined) return null;
  return known.fingerprint === fingerprintOperation(operation)
    ? { kind: "booked", isReplay: true }
    : { kind: "id-reused" };
}

/** So that the same request inside this batch is known too. */
function remember(draft: Draft, operation: Booking, legs: readonly HoldLine[]): void {
  const { accountId } = operation;
  const kind = findPostingKind(operation);
  const unit = legs[0] === undefined ? "money" : requirePocket(draft, legs[0].pocketId).unit;
  const fingerprint = fingerprintOperation(operation);
  draft.changes.transactions.set(operation.id, { fingerprint, accountId, kind, unit, legs, refunded: 0n });
}

function creditCash(
  draft: Draft,
  operation: TopUpOperation | AdjustOperation,
  from: "adjustments" | `funding:${string}`,
): void {
  const pocket = findCash(draft, operation.accountId);
  if (draft.findPocket(pocket.id) === undefined) draft.openPocket(pocket);
  const line = { pocketId: pocket.id, amount: operation.amount };
  creditPocket(draft, describeMovement(operation, 0), { ...line, from });
  remember(draft, operation, [line]);
}

/** The account's cash, or an empty one that is not opened yet. */
function findCash(draft: Draft, accountId: AccountId): Pocket {
  const pocketId: PocketId = `pkt_${accountId.slice("acct_".length)}`;
  return draft.findPocket(pocketId) ?? { ...createEmptyPocket(draft, accountId), id: pocketId };
}

function createEmptyPocket(draft: Draft, accountId: AccountId) {
  return {
    accountId,
    kind: "cash" as const,
    unit: "money" as const,
    expiresAt: null,
    posted: 0n,
    held: 0n,
    entryCount: 0n,
    isOpen: true,
    openedAt: draft.now,
  };
}

/** A grant's pocket has the name of its transaction, so that a repeated grant meets the first. */
function derivePocketId(id: TransactionId): PocketId {
  return `pkt_${id.slice("txn_".length)}`;
}

function describeMovement(operation: Booking, leg: number) {
  return {
    id: operation.id,
    leg,
    kind: findPostingKind(operation),
    refundOf: operation.kind === "refund" ? operation.chargeId : null,
    fingerprint: fingerprintOperation(operation),
    cause: operation.cause,
  };
}
