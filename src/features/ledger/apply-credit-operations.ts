import type { AccountId, BucketId, TransactionId } from "../../lib/ids.ts";
import { creditBucket, type Draft, debitBucket, isExpired, requireBucket } from "./draft.ts";
import { fingerprintOperation } from "./fingerprint.ts";
import { amountMax, type Bucket, type HoldLine, type PostingKind, quotaMax } from "./ledger-state.ts";
import type {
  AdjustOperation,
  ExpireBucketOperation,
  GrantOperation,
  RefundOperation,
  ResultOf,
  TopUpOperation,
} from "./operation.ts";

const postingKinds = { "top-up": "top_up", grant: "grant", adjust: "adjustment", refund: "refund" } as const;

function findPostingKind(operation: Booking): PostingKind {
  return operation.kind === "adjust" && operation.reverses !== undefined ? "reversal" : postingKinds[operation.kind];
}

/** The other side of an adjustment's posting. */
function findCounterpart({ reverses }: AdjustOperation): "adjustments" | `funding:${string}` {
  return reverses === undefined ? "adjustments" : `funding:${reverses}`;
}

type Booking = TopUpOperation | GrantOperation | AdjustOperation | RefundOperation;

export function applyTopUp(draft: Draft, operation: TopUpOperation): ResultOf<TopUpOperation> {
  const repeated = replayResult(draft, operation);
  if (repeated !== null) return repeated;
  const bucket = findCash(draft, operation.accountId);
  if (bucket.posted + operation.amount > amountMax) return { kind: "too-large" };
  creditCash(draft, operation, `funding:${operation.channel}`);
  return { kind: "booked", isReplay: false };
}

export function applyGrant(draft: Draft, operation: GrantOperation): ResultOf<GrantOperation> {
  const repeated = replayResult(draft, operation);
  if (repeated !== null) return repeated;
  const { id, accountId, unit, amount, expiresAt } = operation;
  if (expiresAt !== null && expiresAt <= draft.now) return { kind: "already-expired" };
  const total = draft
    .listBucketIds(accountId)
    .map((bucketId) => requireBucket(draft, bucketId))
    .reduce((sum, bucket) => (bucket.unit === unit ? sum + bucket.posted : sum), 0n);
  if (total + amount > (unit === "money" ? amountMax : quotaMax)) return { kind: "too-large" };
  const bucketId = deriveBucketId(id);
  const kind = unit === "money" ? "gift" : "quota";
  draft.openBucket({ ...createEmptyBucket(draft, accountId), id: bucketId, kind, unit, expiresAt });
  const movement = describeMovement(operation, 0);
  creditBucket(draft, movement, { bucketId, amount, from: `funding:${operation.channel}` });
  remember(draft, operation, [{ bucketId, amount }]);
  return { kind: "booked", isReplay: false };
}

export function applyAdjust(draft: Draft, operation: AdjustOperation): ResultOf<AdjustOperation> {
  const repeated = replayResult(draft, operation);
  if (repeated !== null) return repeated;
  const bucket = findCash(draft, operation.accountId);
  if (bucket.posted + operation.amount > amountMax) return { kind: "too-large" };
  if (operation.amount > 0n) {
    creditCash(draft, operation, findCounterpart(operation));
    return { kind: "booked", isReplay: false };
  }
  const amount = -operation.amount;
  const missing = amount - (bucket.posted - bucket.held);
  if (missing > 0n) return { kind: "refused", reason: "insufficient-balance", missing, isReplay: false };
  const movement = describeMovement(operation, 0);
  debitBucket(draft, movement, { bucketId: bucket.id, amount, unheld: 0n, to: findCounterpart(operation) });
  remember(draft, operation, [{ bucketId: bucket.id, amount }]);
  return { kind: "booked", isReplay: false };
}

export function applyRefund(draft: Draft, operation: RefundOperation): ResultOf<RefundOperation> {
  const repeated = replayResult(draft, operation);
  if (repeated !== null) return repeated;
  const charge = draft.findTransaction(operation.chargeId);
  if (charge === undefined || charge.accountId !== operation.accountId || charge.kind !== "charge") {
    return { kind: "no-such-charge" };
  }
  const refundable = charge.legs.reduce((sum, { amount }) => sum + amount, 0n) - charge.refunded;
  if (operation.amount > refundable) return { kind: "over-charge", refundable };
  const lines = chooseRefundLines(charge.legs, charge.refunded, operation.amount);
  const max = charge.unit === "money" ? amountMax : quotaMax;
  if (lines.some(({ bucketId, amount }) => requireBucket(draft, bucketId).posted + amount > max)) {
    return { kind: "too-large" };
  }
  for (const [leg, { bucketId, amount }] of lines.entries()) {
    creditBucket(draft, describeMovement(operation, leg), { bucketId, amount, from: "revenue" });
  }
  remember(draft, operation, lines);
  draft.changes.transactions.set(operation.chargeId, { ...charge, refunded: charge.refunded + operation.amount });
  return { kind: "booked", isReplay: false };
}

/** The reverse of the spend order: cash first, then gifts, those that expire last first. */
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
    if (part > 0n) lines.push({ bucketId: leg.bucketId, amount: part });
  }
  return lines;
}

export function applyExpireBucket(draft: Draft, operation: ExpireBucketOperation): ResultOf<ExpireBucketOperation> {
  const bucket = draft.findBucket(operation.bucketId);
  if (bucket === undefined || bucket.accountId !== operation.accountId || bucket.kind === "cash") {
    return { kind: "no-such-bucket" };
  }
  const isDue = isExpired(bucket, draft.now);
  if (!isDue && operation.when === "due") return { kind: "not-due" };
  const ended = isDue ? bucket : { ...bucket, expiresAt: draft.now };
  if (ended !== bucket) draft.changeBucket(ended);
  const amount = ended.posted - ended.held;
  if (amount === 0n) return { kind: "expired", amount };
  const movement = {
    // Amounts on hold expire only after their hold ends, so a bucket can expire in several parts.
    id: `txn_${bucket.id.slice("bkt_".length)}.${bucket.entryCount + 1n}` as const,
    leg: 0,
    kind: "expiry" as const,
    refundOf: null,
    fingerprint: "",
    cause: operation.cause,
  };
  debitBucket(draft, movement, { bucketId: bucket.id, amount, unheld: 0n, to: "expired" });
  return { kind: "expired", amount };
}

function replayResult(
  draft: Draft,
  operation: Booking,
): { kind: "booked"; isReplay: true } | { kind: "id-reused" } | null {
  const known = draft.findTransaction(operation.id);
  if (known === undefined) return null;
  return known.fingerprint === fingerprintOperation(operation)
    ? { kind: "booked", isReplay: true }
    : { kind: "id-reused" };
}

/** Lets a repetition in the same batch find it. */
function remember(draft: Draft, operation: Booking, legs: readonly HoldLine[]): void {
  const { accountId } = operation;
  const kind = findPostingKind(operation);
  const unit = legs[0] === undefined ? "money" : requireBucket(draft, legs[0].bucketId).unit;
  const fingerprint = fingerprintOperation(operation);
  draft.changes.transactions.set(operation.id, { fingerprint, accountId, kind, unit, legs, refunded: 0n });
}

function creditCash(
  draft: Draft,
  operation: TopUpOperation | AdjustOperation,
  from: "adjustments" | `funding:${string}`,
): void {
  const bucket = findCash(draft, operation.accountId);
  if (draft.findBucket(bucket.id) === undefined) draft.openBucket(bucket);
  const line = { bucketId: bucket.id, amount: operation.amount };
  creditBucket(draft, describeMovement(operation, 0), { ...line, from });
  remember(draft, operation, [line]);
}

/** The account's cash bucket, or an empty one that is not opened yet. */
function findCash(draft: Draft, accountId: AccountId): Bucket {
  const bucketId: BucketId = `bkt_${accountId.slice("acct_".length)}`;
  return draft.findBucket(bucketId) ?? { ...createEmptyBucket(draft, accountId), id: bucketId };
}

function createEmptyBucket(draft: Draft, accountId: AccountId) {
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

/** Derived from the transaction's id, so a repeated grant finds the first one's bucket. */
function deriveBucketId(id: TransactionId): BucketId {
  return `bkt_${id.slice("txn_".length)}`;
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
