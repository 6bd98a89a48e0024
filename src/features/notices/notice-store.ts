import { sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { NoticeFacts, NoticeKind } from "./notice-table.ts";

type NewNotice<Kind extends NoticeKind> = {
  /** Derived from the event. A second notice with the same id is ignored. */
  id: string;
  accountId: AccountId;
  kind: Kind;
  facts: NoticeFacts[Kind];
};

/** Stores a mail to the account's owner in the transaction of the change that it reports. */
export async function insertNotice<Kind extends NoticeKind>(
  tx: Database,
  { id, accountId, kind, facts }: NewNotice<Kind>,
  now: Date,
): Promise<void> {
  await tx
    .insertInto("account_notices")
    .values({ id, account_id: accountId, kind, facts: JSON.stringify(facts), created_at: now })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export type ClaimedNotice = { id: string; kind: string; facts: unknown; email: string };

/** Marks the oldest unsent notices as sent and returns them. `FOR UPDATE SKIP LOCKED`: each is claimed once. */
export async function claimNotices(
  database: Database,
  { now, limit }: { now: Date; limit: number },
): Promise<ClaimedNotice[]> {
  const { rows } = await sql<ClaimedNotice>`
    update account_notices set sent_at = ${now} from accounts
      where accounts.id = account_notices.account_id and account_notices.id in (
        select id from account_notices where sent_at is null order by created_at limit ${limit} for update skip locked)
      returning account_notices.id, account_notices.kind, account_notices.facts, accounts.email`.execute(database);
  return rows;
}
