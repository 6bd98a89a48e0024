import type { SiteSession } from "../../../../lib/console-session.ts";
import type { AccountId, SessionId, UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

export type ListedSession = {
  id: SessionId;
  createdAt: Date;
  lastSeenAt: Date;
  userAgent: string;
  address: string;
};

export type NewSession = ListedSession & { userId: UserId; tokenHash: Buffer; freshUntil: Date; isTwoStep: boolean };

/** Sessions begun or last seen before these have expired. */
export type SessionLimits = { createdAfter: Date; seenAfter: Date };

export async function insertSession(tx: Database, session: NewSession): Promise<void> {
  await tx
    .insertInto("user_sessions")
    .values({
      id: session.id,
      user_id: session.userId,
      token_hash: session.tokenHash,
      created_at: session.createdAt,
      last_seen_at: session.lastSeenAt,
      fresh_until: session.freshUntil,
      is_two_step: session.isTwoStep,
      previous_token_hash: null,
      previous_token_until: null,
      user_agent: session.userAgent,
      address: session.address,
    })
    .execute();
}

/**
 * Finds a session by its token or, during a short overlap, by the previous one, which does not inherit a later
 * reauthentication.
 */
export async function findSessionByToken(
  database: Database,
  tokenHash: Buffer,
  { now, limits }: { now: Date; limits: SessionLimits },
): Promise<{ session: SiteSession; lastSeenAt: Date } | null> {
  const row = await database
    .selectFrom("user_sessions")
    .innerJoin("users", "users.id", "user_sessions.user_id")
    .select([
      "user_sessions.id",
      "user_sessions.user_id",
      "user_sessions.token_hash",
      "user_sessions.created_at",
      "user_sessions.last_seen_at",
      "user_sessions.fresh_until",
      "user_sessions.is_two_step",
      "users.account_id",
      "users.email",
      "users.email_verified_at",
    ])
    .where(({ eb, or, and }) =>
      or([
        eb("user_sessions.token_hash", "=", tokenHash),
        and([
          eb("user_sessions.previous_token_hash", "=", tokenHash),
          eb("user_sessions.previous_token_until", ">", now),
        ]),
      ]),
    )
    .where("user_sessions.created_at", ">", limits.createdAfter)
    .where("user_sessions.last_seen_at", ">", limits.seenAfter)
    .executeTakeFirst();
  if (row === undefined) return null;
  const isCurrent = row.token_hash.equals(tokenHash);
  const session = {
    // Check constraints enforce the prefixes.
    id: row.id as SessionId,
    userId: row.user_id as UserId,
    accountId: row.account_id as AccountId,
    email: row.email,
    isEmailVerified: row.email_verified_at !== null,
    createdAt: row.created_at,
    from: null,
    freshUntil: isCurrent ? row.fresh_until : row.created_at,
    isTwoStep: isCurrent && row.is_two_step,
    view: null,
  };
  return { session, lastSeenAt: row.last_seen_at };
}

export async function findSessionTimes(
  database: Database,
  id: SessionId,
  limits: SessionLimits,
): Promise<{ createdAt: Date; lastSeenAt: Date } | null> {
  const row = await database
    .selectFrom("user_sessions")
    .select(["created_at", "last_seen_at"])
    .where("id", "=", id)
    .where("created_at", ">", limits.createdAfter)
    .where("last_seen_at", ">", limits.seenAfter)
    .executeTakeFirst();
  return row === undefined ? null : { createdAt: row.created_at, lastSeenAt: row.last_seen_at };
}

export async function updateSessionSeen(database: Database, id: SessionId, seenAt: Date): Promise<void> {
  await database.updateTable("user_sessions").set({ last_seen_at: seenAt }).where("id", "=", id).execute();
}

/** Rotates the token; the previous one stays valid only until the given time. `false` if the session has ended. */
export async function updateSessionToken(
  tx: Database,
  id: SessionId,
  change: { tokenHash: Buffer; freshUntil: Date; previousUntil: Date | null; isTwoStep: boolean },
): Promise<boolean> {
  const result = await tx
    .updateTable("user_sessions")
    .set(({ ref }) => ({
      token_hash: change.tokenHash,
      fresh_until: change.freshUntil,
      ...(change.isTwoStep ? { is_two_step: true } : {}),
      previous_token_hash: change.previousUntil === null ? null : ref("token_hash"),
      previous_token_until: change.previousUntil,
    }))
    .where("id", "=", id)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function listSessions(
  database: Database,
  userId: UserId,
  limits: SessionLimits & { rowsMax: number },
): Promise<ListedSession[]> {
  const rows = await database
    .selectFrom("user_sessions")
    .select(["id", "created_at", "last_seen_at", "user_agent", "address"])
    .where("user_id", "=", userId)
    .where("created_at", ">", limits.createdAfter)
    .where("last_seen_at", ">", limits.seenAfter)
    .orderBy("last_seen_at", "desc")
    .limit(limits.rowsMax)
    .execute();
  return rows.map((row) => ({
    id: row.id as SessionId,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    userAgent: row.user_agent,
    address: row.address,
  }));
}

/** `false` if the user has no such session. */
export async function deleteSession(database: Database, { userId, id }: { userId: UserId; id: string }) {
  const result = await database
    .deleteFrom("user_sessions")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Ends the session of a cookie and returns its user: in a view of an account, the operator. `null` if it had ended. */
export async function endSession(database: Database, id: SessionId): Promise<UserId | null> {
  const row = await database.deleteFrom("user_sessions").where("id", "=", id).returning("user_id").executeTakeFirst();
  return (row?.user_id ?? null) as UserId | null;
}

/** Ends all sessions of a user, or all but one. */
export async function deleteSessions(
  tx: Database,
  { userId, exceptId }: { userId: UserId; exceptId: SessionId | null },
): Promise<void> {
  await tx
    .deleteFrom("user_sessions")
    .where("user_id", "=", userId)
    .$if(exceptId !== null, (query) => query.where("id", "!=", exceptId))
    .execute();
}

/** Ends all sessions of an account's people. */
export async function endSessionsOfAccount(tx: Database, accountId: AccountId): Promise<void> {
  const users = tx.selectFrom("users").select("id").where("account_id", "=", accountId);
  await tx.deleteFrom("user_sessions").where("user_id", "in", users).execute();
}

/** Ends the least recently used sessions beyond the limit. */
export async function deleteOldestSessions(tx: Database, userId: UserId, keptMax: number): Promise<void> {
  const kept = tx
    .selectFrom("user_sessions")
    .select("id")
    .where("user_id", "=", userId)
    .orderBy("last_seen_at", "desc")
    .orderBy("id", "desc")
    .limit(keptMax);
  await tx.deleteFrom("user_sessions").where("user_id", "=", userId).where("id", "not in", kept).execute();
}

export async function deleteDeadSessions(database: Database, limits: SessionLimits): Promise<void> {
  await database
    .deleteFrom("user_sessions")
    .where(({ eb, or }) =>
      or([eb("created_at", "<=", limits.createdAfter), eb("last_seen_at", "<=", limits.seenAfter)]),
    )
    .execute();
}
