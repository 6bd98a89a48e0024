import { sql } from "kysely";
import type { AccountId, SessionId, UserId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export type NewView = {
  id: string;
  accountId: AccountId;
  operatorId: UserId;
  sessionId: SessionId;
  reason: string;
  createdAt: Date;
  endsAt: Date;
};

export type ViewEnding = "ended" | "replaced" | "expired" | "access-lost";

export type EndedView = { id: string; accountId: AccountId; operatorId: UserId; ending: ViewEnding };

/** What a view shows: the account's first user. */
export type ShownOwner = { userId: UserId; accountId: AccountId; email: string; isEmailVerified: boolean };

export async function insertView(tx: Database, view: NewView): Promise<void> {
  await tx
    .insertInto("account_views")
    .values({
      id: view.id,
      account_id: view.accountId,
      operator_id: view.operatorId,
      session_id: view.sessionId,
      reason: view.reason,
      created_at: view.createdAt,
      ends_at: view.endsAt,
    })
    .execute();
}

/**
 * `null` if the session has no such view. It is over once it ended or expired, the role was revoked or the account has no
 * people. Reads the users, who belong to the site.
 */
export async function findOpenView(
  database: Database,
  { viewId, sessionId, now }: { viewId: string; sessionId: SessionId; now: Date },
): Promise<{ endsAt: Date; owner: ShownOwner | null } | null> {
  const { rows } = await sql<{
    is_open: boolean;
    ends_at: Date;
    account_id: AccountId;
    user_id: UserId | null;
    email: string | null;
    is_verified: boolean | null;
  }>`
    select view.ended_at is null and view.ends_at > ${now} and operators.user_id is not null as is_open, view.ends_at,
        view.account_id, owner.id as user_id, owner.email, owner.email_verified_at is not null as is_verified
      from account_views view
        left join operators on operators.user_id = view.operator_id and operators.role = 'operator'
        left join lateral (select id, email, email_verified_at from users where users.account_id = view.account_id
          order by id limit 1) owner on true
      where view.id = ${viewId} and view.session_id = ${sessionId}`.execute(database);
  const [row] = rows;
  if (row === undefined) return null;
  const { ends_at: endsAt, account_id: accountId, user_id: userId, email } = row;
  if (!row.is_open || userId === null || email === null) return { endsAt, owner: null };
  return { endsAt, owner: { userId, accountId, email, isEmailVerified: row.is_verified === true } };
}

/** Ends the open views of a session. */
export async function endViewsOfSession(
  tx: Database,
  sessionId: SessionId,
  { ending, now }: { ending: ViewEnding; now: Date },
): Promise<EndedView[]> {
  const { rows } = await sql<EndedRow>`
    update account_views set ended_at = least(ends_at, ${now}::timestamptz),
        ending = case when ends_at <= ${now} then 'expired' else ${ending} end
      where session_id = ${sessionId} and ended_at is null
      returning id, account_id, operator_id, ending`.execute(tx);
  return rows.map(toEnded);
}

/** Ends views that expired, or whose operator lost the session or the role. Skips those another process is ending. */
export async function endDeadViews(tx: Database, now: Date, limit: number): Promise<EndedView[]> {
  const { rows } = await sql<EndedRow>`
    with dead as (
      select view.id from account_views view where view.ended_at is null and (view.ends_at <= ${now}
          or not exists (select from user_sessions where user_sessions.id = view.session_id)
          or not exists (select from operators where operators.user_id = view.operator_id and operators.role = 'operator'))
        order by view.ends_at limit ${limit} for update skip locked)
    update account_views set ended_at = least(ends_at, ${now}::timestamptz),
        ending = case when ends_at <= ${now} then 'expired' else 'access-lost' end
      from dead where account_views.id = dead.id
      returning account_views.id, account_id, operator_id, ending`.execute(tx);
  return rows.map(toEnded);
}

type EndedRow = { id: string; account_id: AccountId; operator_id: UserId; ending: ViewEnding };

function toEnded({ id, account_id: accountId, operator_id: operatorId, ending }: EndedRow): EndedView {
  return { id, accountId, operatorId, ending };
}
