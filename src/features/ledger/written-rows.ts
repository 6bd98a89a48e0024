import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { createRowType, presentRows, type RowType } from "../../platform/database/row-arrays.ts";
import type { StatementValue } from "../../platform/database/session.ts";
import { type EndedClaim, endedClaim } from "../idempotency/index.ts";
import type { Changes, Charge, DecidedReserve } from "./draft.ts";
import type { Bucket, Hold, KeySpending, LedgerState, Posting } from "./ledger-state.ts";

// The rows that `ledger_commit` takes. A test compares them with the types in `migrations/schema.sql`, column by column.
type DecidedWallet = { accountId: AccountId; version: bigint | null; shape: bigint | null };

const decidedWallet = createRowType<DecidedWallet>("ledger_decided_wallet", [
  ["account_id", "text", ({ accountId }) => accountId],
  ["version", "bigint", ({ version }) => version],
  ["shape", "bigint", ({ shape }) => shape],
]);

const openedBucket = createRowType<Bucket>("ledger_opened_bucket", [
  ["id", "text", ({ id }) => id],
  ["account_id", "text", ({ accountId }) => accountId],
  ["kind", "text", ({ kind }) => kind],
  ["unit", "text", ({ unit }) => unit],
  ["expires_at", "timestamptz", ({ expiresAt }) => expiresAt],
  ["posted", "bigint", ({ posted }) => posted],
  ["held", "bigint", ({ held }) => held],
  ["entry_count", "bigint", ({ entryCount }) => entryCount],
  ["is_open", "boolean", ({ isOpen }) => isOpen],
]);

type DecidedBucket = { after: Bucket; before: Bucket; leastAvailable: bigint | null };

const decidedBucket = createRowType<DecidedBucket>("ledger_decided_bucket", [
  ["id", "text", ({ after }) => after.id],
  ["posted", "bigint", ({ after }) => after.posted],
  ["held", "bigint", ({ after }) => after.held],
  ["entry_count", "bigint", ({ after }) => after.entryCount],
  ["expires_at", "timestamptz", ({ after }) => after.expiresAt],
  ["posted_before", "bigint", ({ before }) => before.posted],
  ["held_before", "bigint", ({ before }) => before.held],
  ["entry_count_before", "bigint", ({ before }) => before.entryCount],
  ["least_available", "bigint", ({ leastAvailable }) => leastAvailable],
]);

const openedHold = createRowType<Hold>("ledger_opened_hold", [
  ["id", "text", ({ id }) => id],
  ["account_id", "text", ({ accountId }) => accountId],
  ["unit", "text", ({ unit }) => unit],
  ["amount", "bigint", ({ amount }) => amount],
  ["bucket_ids", "text[]", ({ lines }) => lines.map(({ bucketId }) => bucketId)],
  ["bucket_amounts", "bigint[]", ({ lines }) => lines.map(({ amount }) => amount)],
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
]);

type DecidedHold = { after: Hold; before: Hold };

const decidedHold = createRowType<DecidedHold>("ledger_decided_hold", [
  ["id", "text", ({ after }) => after.id],
  ["amount", "bigint", ({ after }) => after.amount],
  ["bucket_ids", "text[]", ({ after }) => after.lines.map(({ bucketId }) => bucketId)],
  ["bucket_amounts", "bigint[]", ({ after }) => after.lines.map(({ amount }) => amount)],
  ["state", "text", ({ after }) => after.state],
  ["settled", "bigint", ({ after }) => after.settled],
  ["settlement_fingerprint", "text", ({ after }) => after.settlementFingerprint],
  ["expires_at", "timestamptz", ({ after }) => after.expiresAt],
  ["amount_before", "bigint", ({ before }) => before.amount],
  ["expires_at_before", "timestamptz", ({ before }) => before.expiresAt],
]);

const newPosting = createRowType<Posting>("ledger_new_posting", [
  ["id", "text", ({ id }) => id],
  ["leg", "smallint", ({ leg }) => leg],
  ["account_id", "text", ({ accountId }) => accountId],
  ["kind", "text", ({ kind }) => kind],
  ["unit", "text", ({ unit }) => unit],
  ["debit", "text", ({ debit }) => debit],
  ["credit", "text", ({ credit }) => credit],
  ["amount", "bigint", ({ amount }) => amount],
  ["bucket_id", "text", ({ entry }) => entry?.bucketId ?? null],
  ["entry_number", "bigint", ({ entry }) => entry?.number ?? null],
  ["balance_after", "bigint", ({ entry }) => entry?.balanceAfter ?? null],
  ["refund_of", "text", ({ refundOf }) => refundOf],
  ["fingerprint", "text", ({ fingerprint }) => fingerprint],
  ["cause_kind", "text", ({ cause }) => cause.kind],
  ["cause_id", "text", ({ cause }) => cause.id],
]);

const newCharge = createRowType<Charge>("ledger_new_charge", [
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
]);

type DecidedSpending = {
  after: KeySpending;
  before: Pick<KeySpending, "held" | "spent">;
  most: { counted: bigint; budget: bigint } | null;
};

const decidedSpending = createRowType<DecidedSpending>("ledger_decided_spending", [
  ["key_id", "text", ({ after }) => after.keyId],
  ["starts_at", "timestamptz", ({ after }) => after.startsAt],
  ["account_id", "text", ({ after }) => after.accountId],
  ["held", "bigint", ({ after }) => after.held],
  ["spent", "bigint", ({ after }) => after.spent],
  ["held_before", "bigint", ({ before }) => before.held],
  ["spent_before", "bigint", ({ before }) => before.spent],
  ["most_counted", "bigint", ({ most }) => most?.counted ?? null],
  ["budget", "bigint", ({ most }) => most?.budget ?? null],
]);

type ReserveRow = { accountId: AccountId; decided: DecidedReserve };

/** The lease of a reserve. */
export const reserveLeaseMs = 30_000;

const decidedReserve = createRowType<ReserveRow>("ledger_decided_reserve", [
  ["account_id", "text", ({ accountId }) => accountId],
  ["amount", "bigint", ({ decided }) => decided.amount],
  ["owner", "text", ({ decided }) => decided.owner],
  ["is_revoked", "boolean", ({ decided }) => decided.isRevoked],
  ["lease_ms", "integer", ({ decided }) => (decided.isRenewed ? reserveLeaseMs : null)],
]);

/** In the order of `ledger_commit`'s parameters, after the first. */
export const writtenRowTypes: readonly RowType<never>[] = [
  endedClaim,
  decidedWallet,
  openedBucket,
  decidedBucket,
  openedHold,
  decidedHold,
  newPosting,
  newCharge,
  decidedSpending,
  decidedReserve,
];

/** The parameters of `ledger_commit`: the changes, and the state that they were decided on. */
export function presentChanges(
  changes: Changes,
  state: LedgerState,
  endedClaims: readonly EndedClaim[],
): StatementValue[] {
  const [openedBuckets, changedBuckets] = splitOpened(changes.buckets, changes.openedBucketIds);
  const [openedHolds, changedHolds] = splitOpened(changes.holds, changes.openedHoldIds);
  return [
    changes.decidedAt.toISOString(),
    presentRows(endedClaim, endedClaims),
    presentRows(decidedWallet, listDecidedWallets(changes, state)),
    presentRows(openedBucket, openedBuckets),
    presentRows(
      decidedBucket,
      changedBuckets.map((after) => describeBucket(after, changes, state)),
    ),
    presentRows(openedHold, openedHolds),
    presentRows(
      decidedHold,
      changedHolds.map((after) => describeHold(after, state)),
    ),
    presentRows(newPosting, changes.postings),
    presentRows(newCharge, changes.charges),
    presentRows(
      decidedSpending,
      [...changes.spending].map(([name, after]) => describeSpending(name, after, changes, state)),
    ),
    changes.reserves.size === 0
      ? null
      : presentRows(
          decidedReserve,
          [...changes.reserves].map(([accountId, decided]) => ({ accountId, decided })),
        ),
  ];
}

function listDecidedWallets({ accountIds, exactAccountIds }: Changes, { wallets }: LedgerState): DecidedWallet[] {
  return [...accountIds].toSorted().map((accountId) => {
    const wallet = wallets.get(accountId);
    const shape = exactAccountIds.has(accountId) ? null : (wallet?.shape ?? null);
    return { accountId, version: wallet?.version ?? null, shape };
  });
}

function describeHold(after: Hold, { holds }: LedgerState): DecidedHold {
  const before = holds.get(after.id);
  invariant(before !== undefined, `${after.id} was changed but not loaded`);
  return { after, before };
}

function describeBucket(after: Bucket, { leastAvailable }: Changes, { buckets }: LedgerState): DecidedBucket {
  const before = buckets.get(after.id);
  invariant(before !== undefined, `${after.id} was changed but not loaded`);
  return { after, before, leastAvailable: leastAvailable.get(after.id) ?? null };
}

function describeSpending(
  name: string,
  after: KeySpending,
  { mostCounted }: Changes,
  { spending }: LedgerState,
): DecidedSpending {
  return { after, before: spending.get(name) ?? { held: 0n, spent: 0n }, most: mostCounted.get(name) ?? null };
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
