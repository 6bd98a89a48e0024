import { sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import { type Nano, nano } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";

/** Entries that are not charges: how credit came and went. */
export const creditKinds = ["top_up", "grant", "refund", "reversal", "expiry", "adjustment"] as const;
type CreditKind = (typeof creditKinds)[number];

export type CreditEntry = {
  id: string;
  accountId: AccountId;
  email: string | null;
  kind: CreditKind;
  unit: string;
  /** Positive if it raised the customer's credit. */
  amount: bigint;
  /** The way in, such as `stripe`, `external`, `code` or `operator`; `null` for other entries. */
  channel: string | null;
  refundOf: string | null;
  cause: { kind: string; id: string };
  createdAt: Date;
  /** Where the next page begins. */
  place: EntryPlace;
};

/** Exact to the microsecond, like the entries' times. */
export type EntryPlace = { micros: bigint; number: bigint };

type CreditFilter = { accountId: AccountId | null; kind: CreditKind | null; from: Date | null; to: Date | null };

/** Newest first. Reads the ledger's postings and the accounts. */
export async function listCreditEntries(
  database: Database,
  { accountId, kind, from, to }: CreditFilter,
  { after, limit }: { after: EntryPlace | null; limit: number },
): Promise<CreditEntry[]> {
  const { rows } = await sql<{
    id: string;
    account_id: AccountId;
    email: string | null;
    kind: CreditKind;
    unit: string;
    amount: bigint;
    funding: string;
    refund_of: string | null;
    cause_kind: string;
    cause_id: string;
    created_at: Date;
    micros: string;
    number: bigint;
  }>`
    select entry.*, account.email from (
      select id, account_id, kind, unit, case when credit = bucket_id then amount else -amount end as amount,
          case when debit = bucket_id then credit else debit end as funding, refund_of, cause_kind, cause_id, created_at,
          (extract(epoch from created_at) * 1000000)::bigint::text as micros, number
        from postings
        where kind <> 'charge' and kind <> 'loss'
          and (${accountId}::text is null or account_id = ${accountId}) and (${kind}::text is null or kind = ${kind})
          and created_at >= ${from ?? new Date(0)} and created_at < ${to ?? farFuture}
          and (${after === null} or (created_at, number) < ('epoch'::timestamptz
            + ${String(after?.micros ?? 0n)}::bigint * interval '1 microsecond', ${String(after?.number ?? 0n)}::bigint))
        order by created_at desc, number desc limit ${limit}) entry
      left join accounts account on account.id = entry.account_id
      order by created_at desc, number desc`.execute(database);
  return rows.map((row) => ({
    ...{ id: row.id, accountId: row.account_id, email: row.email, kind: row.kind, unit: row.unit, amount: row.amount },
    channel: row.funding.startsWith("funding:") ? row.funding.slice("funding:".length) : null,
    ...{ refundOf: row.refund_of, cause: { kind: row.cause_kind, id: row.cause_id }, createdAt: row.created_at },
    place: { micros: BigInt(row.micros), number: row.number },
  }));
}

const farFuture = new Date("9999-01-01T00:00:00Z");

export type Stop = {
  accountId: AccountId;
  email: string;
  /** `invariant`: a check found a violation. `debt`: a reversed payment is owed. */
  kind: "invariant" | "debt";
  at: Date;
  reason: string;
  /** What is owed; zero for an invariant. */
  owed: Nano;
  /** The payment that was reversed. */
  causeId: string | null;
};

/** Accounts that cannot spend, by id. */
export async function listStops(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<Stop[]> {
  const { rows } = await sql<{
    account_id: AccountId;
    email: string;
    kind: Stop["kind"];
    at: Date;
    reason: string;
    owed: string;
    cause_id: string | null;
  }>`
    select stop.account_id, account.email, stop.kind, stop.at, stop.reason, stop.owed::text as owed, stop.cause_id from (
        select account_id, 'invariant' as kind, frozen_at as at, frozen_reason as reason, 0::numeric as owed,
            null::text as cause_id
          from wallets where frozen_at is not null
        union all
        select account_id, 'debt', min(created_at), string_agg(cause_kind || ' of ' || cause_id, ', ' order by created_at),
            sum(owed_nano - taken_nano - waived_nano), min(cause_id)
          from clawbacks where owed_nano > taken_nano + waived_nano
            and not exists (select from wallets where wallets.account_id = clawbacks.account_id and frozen_at is not null)
          group by account_id) stop
      join accounts account on account.id = stop.account_id
      where ${after}::text is null or stop.account_id < ${after}
      order by stop.account_id desc limit ${limit}`.execute(database);
  return rows.map((row) => ({
    ...{ accountId: row.account_id, email: row.email, kind: row.kind, at: row.at, reason: row.reason },
    ...{ owed: nano(BigInt(row.owed)), causeId: row.cause_id },
  }));
}

/** What all customers have, and what they owe. */
export async function sumLiability(database: Database): Promise<{ credit: Nano; owed: Nano }> {
  const { rows } = await sql<{ credit: string; owed: string }>`
    select (select coalesce(sum(posted), 0) from buckets where is_open and unit = 'money')::text as credit,
      (select coalesce(sum(owed_nano - taken_nano - waived_nano), 0) from clawbacks
        where owed_nano > taken_nano + waived_nano)::text as owed`.execute(database);
  return { credit: nano(BigInt(rows[0]?.credit ?? 0)), owed: nano(BigInt(rows[0]?.owed ?? 0)) };
}
