import type { AccountId, HoldId, PocketId, TransactionId } from "../../lib/ids.ts";
import type { Changes, Charge } from "./draft.ts";
import {
  type Cause,
  type Hold,
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

/** What the function `ledger_write` takes, in its order: rows as JSON with the names of the tables' columns. */
export function presentChanges(changes: Changes, wallets: ReadonlyMap<AccountId, Wallet>): unknown[] {
  const presentTime = createTimePresenter();
  const presentRows = <T>(things: readonly T[], present: (thing: T, presentTime: PresentTime) => unknown) =>
    things.length === 0 ? null : JSON.stringify(things.map((thing) => present(thing, presentTime)));
  const accountIds = [...changes.accountIds].toSorted();
  const { opened: openedPockets = [], changed: changedPockets = [] } = Object.groupBy(
    changes.pockets.values(),
    ({ id }) => (changes.openedPocketIds.has(id) ? "opened" : "changed"),
  );
  const { opened: openedHolds = [], changed: changedHolds = [] } = Object.groupBy(changes.holds.values(), ({ id }) =>
    changes.openedHoldIds.has(id) ? "opened" : "changed",
  );
  return [
    accountIds,
    accountIds.map((accountId) => String(wallets.get(accountId)?.version)),
    presentRows(openedPockets, presentPocket),
    changedPockets.map(({ id }) => id),
    changedPockets.map(({ posted }) => String(posted)),
    changedPockets.map(({ held }) => String(held)),
    changedPockets.map(({ entryCount }) => String(entryCount)),
    changedPockets.map(({ isOpen }) => isOpen),
    changedPockets.map(({ expiresAt }) => presentTime(expiresAt)),
    presentRows(openedHolds, presentHold),
    presentRows(changedHolds, presentHoldChange),
    changedHolds.map(({ id }) => id),
    presentRows(changes.postings, presentPosting),
    presentRows(changes.charges, presentCharge),
    presentRows([...changes.spending.values()], presentSpending),
  ];
}

/**
 * A date inside JSON is dear: it is asked for its text one by one, and all that is around it is written the slow way. Most
 * of a batch's are the same, so each is written once.
 */
function createTimePresenter(): PresentTime {
  const texts = new Map<number, string>();
  return (time) => {
    if (time === null || time === undefined) return null;
    const known = texts.get(time.getTime());
    if (known !== undefined) return known;
    const text = time.toISOString();
    texts.set(time.getTime(), text);
    return text;
  };
}

type PresentTime = (time: Date | null | undefined) => string | null;

function presentPocket(pocket: Pocket, presentTime: PresentTime) {
  return {
    id: pocket.id,
    account_id: pocket.accountId,
    kind: pocket.kind,
    unit: pocket.unit,
    expires_at: presentTime(pocket.expiresAt),
    posted: String(pocket.posted),
    held: String(pocket.held),
    entry_count: String(pocket.entryCount),
    is_open: pocket.isOpen,
    opened_at: presentTime(pocket.openedAt),
  };
}

function presentHold(hold: Hold, presentTime: PresentTime) {
  return {
    id: hold.id,
    account_id: hold.accountId,
    unit: hold.unit,
    amount: String(hold.amount),
    pocket_ids: hold.lines.map(({ pocketId }) => pocketId),
    pocket_amounts: hold.lines.map(({ amount }) => String(amount)),
    state: hold.state,
    settled: String(hold.settled),
    settlement_fingerprint: hold.settlementFingerprint,
    refusal: hold.refusal?.reason,
    missing: hold.refusal === null ? undefined : String(hold.refusal.missing),
    fingerprint: hold.fingerprint,
    key_id: hold.keyId ?? undefined,
    budget_starts_at: presentTime(hold.budget?.startsAt),
    cause_kind: hold.cause.kind,
    cause_id: hold.cause.id,
    expires_at: presentTime(hold.expiresAt),
    opened_at: presentTime(hold.openedAt),
    resolved_at: presentTime(hold.resolvedAt),
  };
}

/** What can change of a hold. */
function presentHoldChange(hold: Hold, presentTime: PresentTime) {
  return {
    id: hold.id,
    amount: String(hold.amount),
    pocket_ids: hold.lines.map(({ pocketId }) => pocketId),
    pocket_amounts: hold.lines.map(({ amount }) => String(amount)),
    state: hold.state,
    settled: String(hold.settled),
    settlement_fingerprint: hold.settlementFingerprint,
    expires_at: presentTime(hold.expiresAt),
    resolved_at: presentTime(hold.resolvedAt),
  };
}

function presentPosting(posting: Posting, presentTime: PresentTime) {
  return {
    id: posting.id,
    leg: posting.leg,
    account_id: posting.accountId,
    kind: posting.kind,
    unit: posting.unit,
    debit: posting.debit,
    credit: posting.credit,
    amount: String(posting.amount),
    pocket_id: posting.entry?.pocketId,
    entry_number: posting.entry === null ? undefined : String(posting.entry.number),
    balance_after: posting.entry === null ? undefined : String(posting.entry.balanceAfter),
    refund_of: posting.refundOf,
    fingerprint: posting.fingerprint,
    cause_kind: posting.cause.kind,
    cause_id: posting.cause.id,
    created_at: presentTime(posting.createdAt),
  };
}

function presentCharge(charge: Charge, presentTime: PresentTime) {
  const { bill } = charge;
  return {
    id: charge.id,
    hold_id: charge.holdId,
    account_id: charge.accountId,
    key_id: charge.keyId ?? undefined,
    unit: charge.unit,
    price_id: bill.priceId,
    item_names: bill.items.map(({ name }) => name),
    item_quantities: bill.items.map(({ quantity }) => String(quantity)),
    item_rates_nano: bill.items.map(({ rate }) => String(rate)),
    rates_per: String(bill.per),
    minimum_nano: String(bill.minimum),
    quota_units: String(bill.quotaUnits),
    paid: String(charge.paid),
    lost: String(charge.lost),
    created_at: presentTime(charge.createdAt),
  };
}

function presentSpending(spending: KeySpending, presentTime: PresentTime) {
  return {
    key_id: spending.keyId,
    starts_at: presentTime(spending.startsAt),
    account_id: spending.accountId,
    held: String(spending.held),
    spent: String(spending.spent),
  };
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
      row.key_id === null || row.budget_starts_at === null
        ? null
        : { keyId: row.key_id, startsAt: new Date(row.budget_starts_at) },
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
