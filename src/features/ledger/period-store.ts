import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { PostingKind } from "./ledger-state.ts";
import { clockDifferenceMs, findFirstNumberSince } from "./statement-store.ts";

/** How an account's money, cash and gifts, changed in a period. */
export type PeriodSums = {
  opening: Nano;
  closing: Nano;
  /** The change by each kind of entry; charges are negative. */
  changes: ReadonlyMap<PostingKind, Nano>;
};

/**
 * The closing balance is today's less what came after, so that entries which were committed out of order count in the period
 * of their time. Reads the account's entries since the beginning of the period, an hour for clocks that differ included.
 */
export async function sumPeriod(
  tx: Database,
  accountId: AccountId,
  { from, to }: { from: Date; to: Date },
): Promise<PeriodSums> {
  const first = await findFirstNumberSince(tx, accountId, new Date(from.getTime() - clockDifferenceMs));
  const { rows } = await sql<{ kind: PostingKind | null; change: string }>`
    with changes as (
      select kind, created_at, case when credit = bucket_id then amount else -amount end as change
        from postings
        where account_id = ${accountId} and number >= ${first ?? 0n} and unit = 'money' and bucket_id is not null
          and created_at >= ${from})
    select kind, sum(change)::text as change from changes where created_at < ${to} group by kind
    union all
    select null, (coalesce((select sum(posted) from buckets where account_id = ${accountId} and unit = 'money'), 0)
      - coalesce((select sum(change) from changes where created_at >= ${to}), 0))::text`.execute(tx);
  const last = rows.find(({ kind }) => kind === null);
  invariant(last !== undefined, "the query returned no balance");
  const changes = new Map(
    rows.flatMap(({ kind, change }) => (kind === null ? [] : [[kind, nano(BigInt(change))] as const])),
  );
  const closing = nano(BigInt(last.change));
  const moved = [...changes.values()].reduce((sum, change) => sum + change, 0n);
  return { opening: nano(closing - moved), closing, changes };
}
