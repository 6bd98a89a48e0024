import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import {
  type Bucket,
  type Cause,
  type Hold,
  type HoldState,
  type KeySpending,
  type KnownTransaction,
  type LedgerState,
  nameSpending,
  type PostingKind,
  type RefusalReason,
  type Reserve,
  type Unit,
  type Wallet,
} from "./ledger-state.ts";
import type { Needs } from "./list-needs.ts";

/** A budget period without a row has nothing spent. */
export function toState(loaded: LoadedRow, needs: Needs): LedgerState {
  const buckets = (loaded.buckets ?? []).map(toBucket);
  const known = (loaded.spending ?? []).map(toSpending);
  const unused = needs.spending.map((name) => ({ ...name, held: 0n, spent: 0n }));
  return {
    wallets: new Map((loaded.wallets ?? []).map((row) => [row.account_id, toWallet(row)])),
    buckets: new Map(buckets.map((bucket) => [bucket.id, bucket])),
    bucketIds: groupOpenBuckets(buckets),
    holds: new Map((loaded.holds ?? []).map((row) => [row.id, toHold(row)])),
    transactions: toTransactions(loaded.postings ?? []),
    spending: new Map([...unused, ...known].map((spending) => [nameSpending(spending), spending])),
  };
}

/** The changed buckets and spending after a commit that followed other processes' writes. */
export type OthersRow = {
  buckets: Pick<BucketRow, "id" | "posted" | "held" | "entry_count" | "is_open">[] | null;
  spending: SpendingRow[] | null;
};

export type Others = {
  buckets: ReadonlyMap<BucketId, Pick<Bucket, "posted" | "held" | "entryCount" | "isOpen">>;
  spending: readonly KeySpending[];
};

export function toOthers({ buckets, spending }: OthersRow): Others {
  return {
    buckets: new Map(
      (buckets ?? []).map((row) => [
        row.id,
        {
          posted: BigInt(row.posted),
          held: BigInt(row.held),
          entryCount: BigInt(row.entry_count),
          isOpen: row.is_open,
        },
      ]),
    ),
    spending: (spending ?? []).map(toSpending),
  };
}

// The rows of the load statement. Check constraints guarantee id prefixes and enumerations.
export type LoadedRow = {
  wallets: WalletRow[] | null;
  buckets: BucketRow[] | null;
  holds: HoldRow[] | null;
  postings: PostingRow[] | null;
  spending: SpendingRow[] | null;
};
type WalletRow = {
  account_id: AccountId;
  version: string;
  plain_writes: string;
  is_frozen: boolean;
  /** `null` if its lease has expired. */
  reserve: { amount: string; owner: string; is_revoked: boolean } | null;
};
type BucketRow = {
  id: BucketId;
  account_id: AccountId;
  kind: Bucket["kind"];
  unit: Unit;
  expires_at: string | null;
  posted: string;
  held: string;
  entry_count: string;
  is_open: boolean;
  opened_at: string;
};
type HoldRow = {
  id: HoldId;
  account_id: AccountId;
  unit: Unit;
  amount: string;
  bucket_ids: BucketId[];
  bucket_amounts: string[];
  state: HoldState;
  settled: string;
  refusal: RefusalReason | null;
  missing: string | null;
  fingerprint: string;
  settlement_fingerprint: string | null;
  key_id: string | null;
  budget_key_id: string | null;
  budget_starts_at: string | null;
  cause_kind: Cause["kind"];
  cause_id: string;
  expires_at: string;
  opened_at: string;
  resolved_at: string | null;
};
type PostingRow = {
  id: TransactionId;
  account_id: AccountId;
  kind: PostingKind;
  unit: Unit;
  amount: string;
  bucket_id: BucketId | null;
  fingerprint: string;
  refunded: string;
};
type SpendingRow = { key_id: string; starts_at: string; account_id: AccountId; held: string; spent: string };

function toWallet(row: WalletRow): Wallet {
  const version = BigInt(row.version);
  return { version, shape: version - BigInt(row.plain_writes), isFrozen: row.is_frozen, reserve: toReserve(row) };
}

function toReserve({ reserve }: WalletRow): Reserve | null {
  if (reserve === null) return null;
  return { amount: BigInt(reserve.amount), owner: reserve.owner, isRevoked: reserve.is_revoked };
}

function toBucket(row: BucketRow): Bucket {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    unit: row.unit,
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    posted: BigInt(row.posted),
    held: BigInt(row.held),
    entryCount: BigInt(row.entry_count),
    isOpen: row.is_open,
    openedAt: new Date(row.opened_at),
  };
}

function groupOpenBuckets(buckets: readonly Bucket[]): Map<AccountId, Set<BucketId>> {
  const byAccount = Map.groupBy(
    buckets.filter(({ isOpen }) => isOpen),
    ({ accountId }) => accountId,
  );
  return new Map([...byAccount].map(([accountId, list]) => [accountId, new Set(list.map(({ id }) => id))]));
}

function toHold(row: HoldRow): Hold {
  return {
    id: row.id,
    accountId: row.account_id,
    unit: row.unit,
    amount: BigInt(row.amount),
    lines: row.bucket_ids.map((bucketId, index) => ({ bucketId, amount: BigInt(row.bucket_amounts[index] ?? 0) })),
    state: row.state,
    settled: BigInt(row.settled),
    refusal: row.refusal === null ? null : { reason: row.refusal, missing: BigInt(row.missing ?? 0) },
    fingerprint: row.fingerprint,
    settlementFingerprint: row.settlement_fingerprint,
    keyId: row.key_id,
    budget:
      row.budget_key_id === null || row.budget_starts_at === null
        ? null
        : { keyId: row.budget_key_id, startsAt: new Date(row.budget_starts_at) },
    cause: { kind: row.cause_kind, id: row.cause_id },
    expiresAt: new Date(row.expires_at),
    openedAt: new Date(row.opened_at),
    resolvedAt: row.resolved_at === null ? null : new Date(row.resolved_at),
  };
}

function toTransactions(rows: readonly PostingRow[]): Map<TransactionId, KnownTransaction> {
  const transactions = new Map<TransactionId, KnownTransaction>();
  for (const [id, legs] of Map.groupBy(rows, (row) => row.id)) {
    const [first] = legs;
    if (first === undefined) continue;
    transactions.set(id, {
      fingerprint: first.fingerprint,
      accountId: first.account_id,
      kind: first.kind,
      unit: first.unit,
      legs: legs.flatMap(({ bucket_id: bucketId, amount }) =>
        bucketId === null ? [] : [{ bucketId, amount: BigInt(amount) }],
      ),
      refunded: BigInt(first.refunded),
    });
  }
  return transactions;
}

function toSpending(row: SpendingRow): KeySpending {
  return {
    keyId: row.key_id,
    startsAt: new Date(row.starts_at),
    accountId: row.account_id,
    held: BigInt(row.held),
    spent: BigInt(row.spent),
  };
}
