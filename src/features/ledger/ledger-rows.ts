import type { AccountId, HoldId, PocketId, TransactionId } from "../../lib/ids.ts";
import type { StatementValue } from "../../platform/database/prepared-query.ts";
import type { RowArrays } from "../../platform/database/row-arrays.ts";
import type { Changes, Charge } from "./draft.ts";
import {
  type Cause,
  type Hold,
  type HoldLine,
  type HoldState,
  type KeySpending,
  type KnownTransaction,
  type LedgerState,
  nameSpending,
  type Pocket,
  type Posting,
  type PostingKind,
  type RefusalReason,
  type Unit,
  type Wallet,
} from "./ledger-state.ts";
import type { Needs } from "./list-needs.ts";

/** What `ledger_write` takes, in its order; the values of each row are in the order of its type. */
export function presentChanges(
  changes: Changes,
  { wallets, rows }: { wallets: ReadonlyMap<AccountId, Wallet>; rows: RowArrays },
): StatementValue[] {
  rows.clear();
  const [openedPockets, changedPockets] = splitOpened(changes.pockets, changes.openedPocketIds);
  const [openedHolds, changedHolds] = splitOpened(changes.holds, changes.openedHoldIds);
  return [
    changes.decidedAt.toISOString(),
    rows.write([...changes.accountIds].toSorted(), (accountId) => {
      rows.add(accountId);
      rows.add(wallets.get(accountId)?.version ?? null);
    }),
    rows.write(openedPockets, (pocket) => addOpenedPocket(rows, pocket)),
    rows.write(changedPockets, (pocket) => addChangedPocket(rows, pocket)),
    rows.write(openedHolds, (hold) => addOpenedHold(rows, hold)),
    rows.write(changedHolds, (hold) => addChangedHold(rows, hold)),
    rows.write(changes.postings, (posting) => addPosting(rows, posting)),
    rows.write(changes.charges, (charge) => addCharge(rows, charge)),
    rows.write([...changes.spending.values()], (spending) => addSpending(rows, spending)),
  ];
}

function splitOpened<T extends { id: string }>(
  all: ReadonlyMap<T["id"], T>,
  openedIds: ReadonlySet<T["id"]>,
): [opened: T[], changed: T[]] {
  const opened: T[] = [];
  const changed: T[] = [];
  for (const thing of all.values()) (openedIds.has(thing.id) ? opened : changed).push(thing);
  return [opened, changed];
}

function addOpenedPocket(rows: RowArrays, pocket: Pocket): void {
  rows.add(pocket.id);
  rows.add(pocket.accountId);
  rows.add(pocket.kind);
  rows.add(pocket.unit);
  rows.addTime(pocket.expiresAt);
  rows.add(pocket.posted);
  rows.add(pocket.held);
  rows.add(pocket.entryCount);
  rows.add(String(pocket.isOpen));
}

function addChangedPocket(rows: RowArrays, pocket: Pocket): void {
  rows.add(pocket.id);
  rows.add(pocket.posted);
  rows.add(pocket.held);
  rows.add(pocket.entryCount);
  rows.add(String(pocket.isOpen));
  rows.addTime(pocket.expiresAt);
}

function addOpenedHold(rows: RowArrays, hold: Hold): void {
  rows.add(hold.id);
  rows.add(hold.accountId);
  rows.add(hold.unit);
  rows.add(hold.amount);
  rows.addList(hold.lines, getLinePocket);
  rows.addList(hold.lines, getLineAmount);
  rows.add(hold.state);
  rows.add(hold.settled);
  rows.add(hold.refusal === null ? null : hold.refusal.reason);
  rows.add(hold.refusal === null ? null : hold.refusal.missing);
  rows.add(hold.fingerprint);
  rows.add(hold.settlementFingerprint);
  rows.add(hold.keyId);
  rows.addTime(hold.budget === null ? null : hold.budget.startsAt);
  rows.add(hold.cause.kind);
  rows.add(hold.cause.id);
  rows.addTime(hold.expiresAt);
}

/** What can change of a hold. */
function addChangedHold(rows: RowArrays, hold: Hold): void {
  rows.add(hold.id);
  rows.add(hold.amount);
  rows.addList(hold.lines, getLinePocket);
  rows.addList(hold.lines, getLineAmount);
  rows.add(hold.state);
  rows.add(hold.settled);
  rows.add(hold.settlementFingerprint);
  rows.addTime(hold.expiresAt);
}

const getLinePocket = ({ pocketId }: HoldLine): string => pocketId;
const getLineAmount = ({ amount }: HoldLine): bigint => amount;

function addPosting(rows: RowArrays, posting: Posting): void {
  const { entry } = posting;
  rows.add(posting.id);
  rows.add(String(posting.leg));
  rows.add(posting.accountId);
  rows.add(posting.kind);
  rows.add(posting.unit);
  rows.add(posting.debit);
  rows.add(posting.credit);
  rows.add(posting.amount);
  rows.add(entry === null ? null : entry.pocketId);
  rows.add(entry === null ? null : entry.number);
  rows.add(entry === null ? null : entry.balanceAfter);
  rows.add(posting.refundOf);
  rows.add(posting.fingerprint);
  rows.add(posting.cause.kind);
  rows.add(posting.cause.id);
}

function addCharge(rows: RowArrays, charge: Charge): void {
  const { bill } = charge;
  rows.add(charge.id);
  rows.add(charge.holdId);
  rows.add(charge.accountId);
  rows.add(charge.keyId);
  rows.add(charge.unit);
  rows.add(bill.priceId);
  rows.addList(bill.items, ({ name }) => name);
  rows.addList(bill.items, ({ quantity }) => quantity);
  rows.addList(bill.items, ({ rate }) => rate);
  rows.add(bill.per);
  rows.add(bill.minimum);
  rows.add(bill.quotaUnits);
  rows.add(charge.paid);
  rows.add(charge.lost);
}

function addSpending(rows: RowArrays, spending: KeySpending): void {
  rows.add(spending.keyId);
  rows.addTime(spending.startsAt);
  rows.add(spending.accountId);
  rows.add(spending.held);
  rows.add(spending.spent);
}

/** The loaded rows as the reducer takes them. A key's period that has no row yet is one in which nothing was spent. */
export function toState(loaded: LoadedRow, needs: Needs): LedgerState {
  const pockets = (loaded.pockets ?? []).map(toPocket);
  const known = (loaded.spending ?? []).map(toSpending);
  const unused = needs.spending.map((name) => ({ ...name, held: 0n, spent: 0n }));
  return {
    wallets: new Map((loaded.wallets ?? []).map((row) => [row.account_id, toWallet(row)])),
    pockets: new Map(pockets.map((pocket) => [pocket.id, pocket])),
    pocketIds: groupOpenPockets(pockets),
    holds: new Map((loaded.holds ?? []).map((row) => [row.id, toHold(row)])),
    transactions: toTransactions(loaded.postings ?? []),
    spending: new Map([...unused, ...known].map((spending) => [nameSpending(spending), spending])),
  };
}

// What the load statement tells. The tables' checks hold the prefixes of ids and the words.
export type LoadedRow = {
  wallets: WalletRow[] | null;
  pockets: PocketRow[] | null;
  holds: HoldRow[] | null;
  postings: PostingRow[] | null;
  spending: SpendingRow[] | null;
};
type WalletRow = { account_id: AccountId; version: string; is_frozen: boolean };
type PocketRow = {
  id: PocketId;
  account_id: AccountId;
  kind: Pocket["kind"];
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
  pocket_ids: PocketId[];
  pocket_amounts: string[];
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
  pocket_id: PocketId | null;
  fingerprint: string;
  refunded: string;
};
type SpendingRow = { key_id: string; starts_at: string; account_id: AccountId; held: string; spent: string };

function toWallet(row: WalletRow): Wallet {
  return { version: BigInt(row.version), isFrozen: row.is_frozen };
}

function toPocket(row: PocketRow): Pocket {
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

function groupOpenPockets(pockets: readonly Pocket[]): Map<AccountId, Set<PocketId>> {
  const byAccount = Map.groupBy(
    pockets.filter(({ isOpen }) => isOpen),
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
    lines: row.pocket_ids.map((pocketId, index) => ({ pocketId, amount: BigInt(row.pocket_amounts[index] ?? 0) })),
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
      legs: legs.flatMap(({ pocket_id: pocketId, amount }) =>
        pocketId === null ? [] : [{ pocketId, amount: BigInt(amount) }],
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
