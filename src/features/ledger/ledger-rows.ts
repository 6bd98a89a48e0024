import type { AccountId, HoldId, PocketId, TransactionId } from "../../lib/ids.ts";
import { presentRows, type RowType } from "../../platform/database/row-arrays.ts";
import type { StatementValue } from "../../platform/database/session.ts";
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

// The rows that `ledger_write` takes. A test holds them against the types in `migrations/schema.sql`, column by column.
const changedWallet: RowType<[accountId: AccountId, version: bigint | null]> = {
  name: "ledger_changed_wallet",
  columns: [
    ["account_id", "text", ([accountId]) => accountId],
    ["version", "bigint", ([, version]) => version],
  ],
};

const openedPocket: RowType<Pocket> = {
  name: "ledger_opened_pocket",
  columns: [
    ["id", "text", ({ id }) => id],
    ["account_id", "text", ({ accountId }) => accountId],
    ["kind", "text", ({ kind }) => kind],
    ["unit", "text", ({ unit }) => unit],
    ["expires_at", "timestamptz", ({ expiresAt }) => expiresAt],
    ["posted", "bigint", ({ posted }) => posted],
    ["held", "bigint", ({ held }) => held],
    ["entry_count", "bigint", ({ entryCount }) => entryCount],
    ["is_open", "boolean", ({ isOpen }) => isOpen],
  ],
};

const changedPocket: RowType<Pocket> = {
  name: "ledger_changed_pocket",
  columns: [
    ["id", "text", ({ id }) => id],
    ["posted", "bigint", ({ posted }) => posted],
    ["held", "bigint", ({ held }) => held],
    ["entry_count", "bigint", ({ entryCount }) => entryCount],
    ["is_open", "boolean", ({ isOpen }) => isOpen],
    ["expires_at", "timestamptz", ({ expiresAt }) => expiresAt],
  ],
};

const openedHold: RowType<Hold> = {
  name: "ledger_opened_hold",
  columns: [
    ["id", "text", ({ id }) => id],
    ["account_id", "text", ({ accountId }) => accountId],
    ["unit", "text", ({ unit }) => unit],
    ["amount", "bigint", ({ amount }) => amount],
    ["pocket_ids", "text[]", ({ lines }) => lines.map(({ pocketId }) => pocketId)],
    ["pocket_amounts", "bigint[]", ({ lines }) => lines.map(({ amount }) => amount)],
    ["state", "text", ({ state }) => state],
    ["settled", "bigint", ({ settled }) => settled],
    ["refusal", "text", ({ refusal }) => refusal?.reason ?? null],
    ["missing", "bigint", ({ refusal }) => refusal?.missing ?? null],
    ["fingerprint", "text", ({ fingerprint }) => fingerprint],
    ["settlement_fingerprint", "text", ({ settlementFingerprint }) => settlementFingerprint],
    ["key_id", "text", ({ keyId }) => keyId],
    ["budget_starts_at", "timestamptz", ({ budget }) => budget?.startsAt ?? null],
    ["cause_kind", "text", ({ cause }) => cause.kind],
    ["cause_id", "text", ({ cause }) => cause.id],
    ["expires_at", "timestamptz", ({ expiresAt }) => expiresAt],
  ],
};

const changedHold: RowType<Hold> = {
  name: "ledger_changed_hold",
  columns: [
    ["id", "text", ({ id }) => id],
    ["amount", "bigint", ({ amount }) => amount],
    ["pocket_ids", "text[]", ({ lines }) => lines.map(({ pocketId }) => pocketId)],
    ["pocket_amounts", "bigint[]", ({ lines }) => lines.map(({ amount }) => amount)],
    ["state", "text", ({ state }) => state],
    ["settled", "bigint", ({ settled }) => settled],
    ["settlement_fingerprint", "text", ({ settlementFingerprint }) => settlementFingerprint],
    ["expires_at", "timestamptz", ({ expiresAt }) => expiresAt],
  ],
};

const newPosting: RowType<Posting> = {
  name: "ledger_new_posting",
  columns: [
    ["id", "text", ({ id }) => id],
    ["leg", "smallint", ({ leg }) => leg],
    ["account_id", "text", ({ accountId }) => accountId],
    ["kind", "text", ({ kind }) => kind],
    ["unit", "text", ({ unit }) => unit],
    ["debit", "text", ({ debit }) => debit],
    ["credit", "text", ({ credit }) => credit],
    ["amount", "bigint", ({ amount }) => amount],
    ["pocket_id", "text", ({ entry }) => entry?.pocketId ?? null],
    ["entry_number", "bigint", ({ entry }) => entry?.number ?? null],
    ["balance_after", "bigint", ({ entry }) => entry?.balanceAfter ?? null],
    ["refund_of", "text", ({ refundOf }) => refundOf],
    ["fingerprint", "text", ({ fingerprint }) => fingerprint],
    ["cause_kind", "text", ({ cause }) => cause.kind],
    ["cause_id", "text", ({ cause }) => cause.id],
  ],
};

const newCharge: RowType<Charge> = {
  name: "ledger_new_charge",
  columns: [
    ["id", "text", ({ id }) => id],
    ["hold_id", "text", ({ holdId }) => holdId],
    ["account_id", "text", ({ accountId }) => accountId],
    ["key_id", "text", ({ keyId }) => keyId],
    ["unit", "text", ({ unit }) => unit],
    ["price_id", "text", ({ bill }) => bill.priceId],
    ["item_names", "text[]", ({ bill }) => bill.items.map(({ name }) => name)],
    ["item_quantities", "bigint[]", ({ bill }) => bill.items.map(({ quantity }) => quantity)],
    ["item_rates_nano", "bigint[]", ({ bill }) => bill.items.map(({ rate }) => rate)],
    ["rates_per", "bigint", ({ bill }) => bill.per],
    ["minimum_nano", "bigint", ({ bill }) => bill.minimum],
    ["quota_units", "bigint", ({ bill }) => bill.quotaUnits],
    ["paid", "bigint", ({ paid }) => paid],
    ["lost", "bigint", ({ lost }) => lost],
  ],
};

const changedSpending: RowType<KeySpending> = {
  name: "ledger_changed_spending",
  columns: [
    ["key_id", "text", ({ keyId }) => keyId],
    ["starts_at", "timestamptz", ({ startsAt }) => startsAt],
    ["account_id", "text", ({ accountId }) => accountId],
    ["held", "bigint", ({ held }) => held],
    ["spent", "bigint", ({ spent }) => spent],
  ],
};

/** In the order of the parameters of `ledger_write`, after the first. */
export const writtenRowTypes: readonly RowType<never>[] = [
  changedWallet,
  openedPocket,
  changedPocket,
  openedHold,
  changedHold,
  newPosting,
  newCharge,
  changedSpending,
];

/** What `ledger_write` takes. */
export function presentChanges(changes: Changes, wallets: ReadonlyMap<AccountId, Wallet>): StatementValue[] {
  const accountIds = [...changes.accountIds].toSorted();
  const [openedPockets, changedPockets] = splitOpened(changes.pockets, changes.openedPocketIds);
  const [openedHolds, changedHolds] = splitOpened(changes.holds, changes.openedHoldIds);
  return [
    changes.decidedAt.toISOString(),
    presentRows(
      changedWallet,
      accountIds.map((accountId) => [accountId, wallets.get(accountId)?.version ?? null]),
    ),
    presentRows(openedPocket, openedPockets),
    presentRows(changedPocket, changedPockets),
    presentRows(openedHold, openedHolds),
    presentRows(changedHold, changedHolds),
    presentRows(newPosting, changes.postings),
    presentRows(newCharge, changes.charges),
    presentRows(changedSpending, [...changes.spending.values()]),
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
