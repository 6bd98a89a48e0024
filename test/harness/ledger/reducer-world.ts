import { isDeepStrictEqual } from "node:util";
import type { Changes, Charge } from "../../../src/features/ledger/draft.ts";
import {
  type Bucket,
  type Hold,
  type KeySpending,
  type KnownTransaction,
  type LedgerState,
  nameSpending,
  type Posting,
  type Wallet,
} from "../../../src/features/ledger/ledger-state.ts";
import { listNeeds } from "../../../src/features/ledger/list-needs.ts";
import type { Operation, Result } from "../../../src/features/ledger/operation.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../../src/lib/ids.ts";
import { assertClaim, assertSame } from "./disagreement.ts";
import { compareIds, type LedgerPicture, presentLines, presentSpending } from "./ledger-model.ts";

export type ApplyBatch = (
  state: LedgerState,
  operations: readonly Operation[],
  now: Date,
) => { results: Result[]; changes: Changes };

/** The contents of the ledger's tables. */
export type LedgerTables = {
  wallets: Map<AccountId, Wallet>;
  buckets: Map<BucketId, Bucket>;
  holds: Map<HoldId, Hold>;
  spending: Map<string, KeySpending>;
  postings: Posting[];
  charges: Charge[];
};

/** Replaces the database: loads the rows that a batch needs, and writes its decisions. */
export type ReducerWorld = {
  tables: LedgerTables;
  apply(operations: readonly Operation[], now: Date): Result[];
  /** A copy of the tables that later writes do not change. */
  copy(): LedgerTables;
  /** Decides a batch on a copy, without writing. */
  decideOn(tables: LedgerTables, operations: readonly Operation[], now: Date): ReturnType<ApplyBatch>;
  setFrozen(accountId: AccountId, isFrozen: boolean): void;
  /** Checks that transactions looked the same to the rest of the last batch as they do to the next. */
  checkMovements(): void;
  picture(): LedgerPicture;
};

/** A batch loads everything, or only the rows it needs, like the database's load statement. */
type Handout = "everything" | "what is asked about";

export function createReducerWorld(parts: {
  accountIds: Iterable<AccountId>;
  applyBatch: ApplyBatch;
  handout: Handout;
}): ReducerWorld {
  const tables: LedgerTables = {
    wallets: new Map(
      [...parts.accountIds].map((id) => [id, { version: 0n, shape: 0n, isFrozen: false, reserve: null }]),
    ),
    buckets: new Map(),
    holds: new Map(),
    spending: new Map(),
    postings: [],
    charges: [],
  };
  let movements: Changes["transactions"] = new Map();
  function decideOn(known: LedgerTables, operations: readonly Operation[], now: Date): ReturnType<ApplyBatch> {
    const state = parts.handout === "everything" ? loadAll(known) : loadAsked(known, operations, now);
    return parts.applyBatch(state, operations, now);
  }
  return {
    tables,
    copy: () => ({
      wallets: new Map(tables.wallets),
      buckets: new Map(tables.buckets),
      holds: new Map(tables.holds),
      spending: new Map(tables.spending),
      postings: [...tables.postings],
      charges: [...tables.charges],
    }),
    decideOn,
    apply(operations, now) {
      const { results, changes } = decideOn(tables, operations, now);
      movements = changes.transactions;
      writeChanges(tables, changes);
      return results;
    },
    setFrozen(accountId, isFrozen) {
      const wallet = tables.wallets.get(accountId);
      if (wallet !== undefined) tables.wallets.set(accountId, { ...wallet, isFrozen });
    },
    checkMovements() {
      const written = toTransactions(tables.postings, (id) => movements.has(id));
      for (const [id, movement] of movements)
        assertSame("movements as their own batch knew them", { id, ...movement }, { id, ...written.get(id) });
    },
    picture: () => ({
      buckets: [...tables.buckets.values()].toSorted(compareIds),
      holds: [...tables.holds.values()]
        .map(({ fingerprint, settlementFingerprint, ...hold }) => ({ ...hold, lines: presentLines(hold.lines) }))
        .toSorted(compareIds),
      spending: presentSpending(tables.spending.values()),
      postings: tables.postings.map(({ fingerprint, ...posting }) => posting),
      charges: [...tables.charges],
    }),
  };
}

/** The whole ledger, as loaded by a batch that needs everything. */
function loadAll(tables: LedgerTables): LedgerState {
  return {
    wallets: new Map(tables.wallets),
    buckets: new Map(tables.buckets),
    bucketIds: groupOpenBuckets(tables.buckets.values()),
    holds: new Map(tables.holds),
    transactions: toTransactions(tables.postings, () => true),
    spending: new Map(tables.spending),
  };
}

/** Only the rows that the load statement of `ledger-store.ts` would find. */
function loadAsked(tables: LedgerTables, operations: readonly Operation[], now: Date): LedgerState {
  const needs = listNeeds(operations, now);
  const accountIds = new Set(needs.accountIds);
  const holdIds = new Set(needs.holdIds);
  const transactionIds = new Set(needs.transactionIds);
  const holds = new Map([...tables.holds].filter(([id]) => holdIds.has(id)));
  const bucketIds = new Set<BucketId>([
    ...needs.bucketIds,
    ...tables.postings.flatMap(({ id, entry }) => (transactionIds.has(id) && entry !== null ? [entry.bucketId] : [])),
    ...[...holds.values()].flatMap(({ state, lines }) => (state === "open" ? lines.map((line) => line.bucketId) : [])),
  ]);
  const buckets = new Map(
    [...tables.buckets].filter(
      ([id, { accountId, isOpen }]) => bucketIds.has(id) || (isOpen && accountIds.has(accountId)),
    ),
  );
  const names = new Set([
    ...needs.spending.map(nameSpending),
    ...[...holds.values()].flatMap(({ budget }) => (budget === null ? [] : [nameSpending(budget)])),
  ]);
  return {
    wallets: new Map([...tables.wallets].filter(([id]) => accountIds.has(id))),
    buckets,
    bucketIds: groupOpenBuckets(buckets.values()),
    holds,
    transactions: toTransactions(tables.postings, (id) => transactionIds.has(id)),
    spending: new Map([
      ...needs.spending.map((name) => [nameSpending(name), { ...name, held: 0n, spent: 0n }] as const),
      ...[...tables.spending].filter(([name]) => names.has(name)),
    ]),
  };
}

function groupOpenBuckets(buckets: Iterable<Bucket>): Map<AccountId, Set<BucketId>> {
  const groups = new Map<AccountId, Set<BucketId>>();
  for (const { id, accountId, isOpen } of buckets)
    if (isOpen) groups.set(accountId, (groups.get(accountId) ?? new Set()).add(id));
  return groups;
}

/** Transactions as derived from their postings. */
function toTransactions(
  postings: readonly Posting[],
  isAsked: (id: TransactionId) => boolean,
): Map<TransactionId, KnownTransaction> {
  const transactions = new Map<TransactionId, KnownTransaction>();
  for (const { id, fingerprint, accountId, kind, unit, entry, amount } of postings) {
    if (!isAsked(id)) continue;
    const known = transactions.get(id) ?? { fingerprint, accountId, kind, unit, legs: [], refunded: 0n };
    const legs = entry === null ? known.legs : [...known.legs, { bucketId: entry.bucketId, amount }];
    transactions.set(id, { ...known, legs });
  }
  for (const { refundOf, amount } of postings) {
    const charge = refundOf === null ? undefined : transactions.get(refundOf);
    if (refundOf !== null && charge !== undefined)
      transactions.set(refundOf, { ...charge, refunded: charge.refunded + amount });
  }
  return transactions;
}

/** Does what `ledger_commit` does: leaves the same columns unchanged and raises the same errors. */
function writeChanges(tables: LedgerTables, changes: Changes): void {
  if (changes.accountIds.size === 0) return;
  for (const accountId of changes.accountIds) {
    const wallet = tables.wallets.get(accountId);
    assertClaim(wallet !== undefined, "writing", `there is no wallet of ${accountId}`);
    const shape = changes.exactAccountIds.has(accountId) ? wallet.shape + 1n : wallet.shape;
    tables.wallets.set(accountId, { ...wallet, version: wallet.version + 1n, shape });
  }
  const changedIds = new Set(listChanged(tables, changes).map(({ accountId }) => accountId));
  assertSame("the wallets that get a new version", changes.accountIds, changedIds);

  for (const bucket of changes.buckets.values()) {
    const { posted, held, entryCount, isOpen, expiresAt } = bucket;
    const before = tables.buckets.get(bucket.id);
    const isNew = changes.openedBucketIds.has(bucket.id);
    assertClaim(isNew === (before === undefined), "writing", `${bucket.id} is opened twice, or changed unopened`);
    tables.buckets.set(bucket.id, { ...(before ?? bucket), posted, held, entryCount, isOpen, expiresAt });
  }
  for (const hold of changes.holds.values()) {
    const { amount, lines, state, settled, settlementFingerprint, expiresAt, resolvedAt } = hold;
    const before = tables.holds.get(hold.id);
    const isNew = changes.openedHoldIds.has(hold.id);
    assertClaim(isNew === (before === undefined), "writing", `${hold.id} is opened twice, or changed unopened`);
    assertClaim(before === undefined || before.state === "open", "writing", `${hold.id} changes after its end`);
    const changed = { amount, lines, state, settled, settlementFingerprint, expiresAt, resolvedAt };
    tables.holds.set(hold.id, { ...(before ?? hold), ...changed });
  }
  for (const spending of changes.spending.values()) {
    const name = nameSpending(spending);
    const { held, spent } = spending;
    tables.spending.set(name, { ...(tables.spending.get(name) ?? spending), held, spent });
  }
  for (const posting of changes.postings) {
    const { id, leg } = posting;
    const isTaken = tables.postings.some((written) => written.id === id && written.leg === leg);
    assertClaim(!isTaken, "writing", `${id} has a leg ${leg} already`);
    tables.postings.push(posting);
  }
  tables.charges.push(...changes.charges);
}

/** The rows that differ from before. */
function listChanged(tables: LedgerTables, changes: Changes): { accountId: AccountId }[] {
  return [
    ...[...changes.buckets].filter(([id, bucket]) => !isDeepStrictEqual(bucket, tables.buckets.get(id))),
    ...[...changes.holds].filter(([id, hold]) => !isDeepStrictEqual(hold, tables.holds.get(id))),
    ...[...changes.spending].filter(([name, spending]) => !isDeepStrictEqual(spending, tables.spending.get(name))),
    ...changes.postings.entries(),
    ...changes.charges.entries(),
  ].map(([, thing]) => thing);
}
