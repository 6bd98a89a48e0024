import type { SiteSession } from "../../../lib/console-session.ts";
import type { AccountId, KeyId, SessionId, UserId } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import { nano } from "../../../lib/money.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { SessionLimits } from "../sign-in/session/session-store.ts";
import type { BrowserWay, ConnectRequest, ConnectState, DeviceWay, KeyTerms, RequestOwner } from "./connect-request.ts";

type NewRequest = Pick<ConnectRequest, "id" | "client" | "way" | "expiresAt"> & {
  secretHash: Buffer | null;
  createdAt: Date;
};

/** `false` if another request has the user code. */
export async function insertRequest(database: Database, request: NewRequest): Promise<boolean> {
  const { way } = request;
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("connect_requests")
    .values({
      id: request.id,
      kind: way.kind,
      client: request.client,
      state: "open",
      ...(way.kind === "browser"
        ? { redirect_uri: way.redirectUri, client_state: way.clientState, code_challenge: way.codeChallenge }
        : {
            user_code: way.userCode,
            poll_seconds: way.pollSeconds,
            client_address: way.asker.address,
            client_user_agent: way.asker.userAgent,
          }),
      secret_hash: request.secretHash,
      created_at: request.createdAt,
      expires_at: request.expiresAt,
    })
    .onConflict((conflict) => conflict.column("user_code").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

type Claim = { id: string; session: SiteSession; limits: SessionLimits };

/**
 * Assigns a request to the first session that opens it, and locks it (`FOR UPDATE`). Another session of the same user
 * gets it only after the first has ended, as after a new sign-in.
 */
export async function claimRequest(database: Database, { id, session, limits }: Claim): Promise<ConnectRequest | null> {
  const row = await database
    .updateTable("connect_requests")
    .set({ session_id: session.id, user_id: session.userId, account_id: session.accountId })
    .where("id", "=", id)
    .where(({ eb, or, and, not, exists, selectFrom }) => {
      const ownerIsSignedIn = selectFrom("user_sessions")
        .select("user_sessions.id")
        .whereRef("user_sessions.id", "=", "connect_requests.session_id")
        .where("user_sessions.created_at", ">", limits.createdAfter)
        .where("user_sessions.last_seen_at", ">", limits.seenAfter);
      return or([
        eb("session_id", "is", null),
        eb("session_id", "=", session.id),
        and([eb("user_id", "=", session.userId), not(exists(ownerIsSignedIn))]),
      ]);
    })
    .returning(requestColumns)
    .executeTakeFirst();
  return row === undefined ? null : toRequest(row);
}

export async function findOwnRequest(
  database: Database,
  { id, sessionId }: { id: string; sessionId: SessionId },
): Promise<ConnectRequest | null> {
  const row = await selectRequests(database)
    .where("id", "=", id)
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return row === undefined ? null : toRequest(row);
}

/** A device's request, while undecided. */
export async function findRequestByUserCode(
  database: Database,
  { userCode, now }: { userCode: string; now: Date },
): Promise<ConnectRequest | null> {
  const row = await selectRequests(database)
    .where("user_code", "=", userCode)
    .where("state", "=", "open")
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row === undefined ? null : toRequest(row);
}

/** Locks the request, so its secret is exchanged once. */
export async function lockRequestBySecret(
  tx: Database,
  { kind, secretHash }: { kind: ConnectRequest["way"]["kind"]; secretHash: Buffer },
): Promise<ConnectRequest | null> {
  const row = await selectRequests(tx)
    .where("secret_hash", "=", secretHash)
    .where("kind", "=", kind)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : toRequest(row);
}

type Approval = { terms: KeyTerms; keyId: KeyId | null; secretHash: Buffer | null; expiresAt: Date };

export async function updateApproved(tx: Database, id: string, approval: Approval): Promise<void> {
  await tx
    .updateTable("connect_requests")
    .set({
      state: "approved",
      key_days: approval.terms.days,
      budget_nano: approval.terms.budget,
      key_id: approval.keyId,
      expires_at: approval.expiresAt,
      ...(approval.secretHash === null ? {} : { secret_hash: approval.secretHash }),
    })
    .where("id", "=", id)
    .execute();
}

export async function updateDenied(tx: Database, id: string): Promise<void> {
  await tx.updateTable("connect_requests").set({ state: "denied" }).where("id", "=", id).execute();
}

export async function updateDelivered(tx: Database, id: string, keyId: KeyId): Promise<void> {
  await tx.updateTable("connect_requests").set({ state: "delivered", key_id: keyId }).where("id", "=", id).execute();
}

export async function updatePolled(
  tx: Database,
  id: string,
  { polledAt, pollSeconds }: { polledAt: Date; pollSeconds: number },
): Promise<void> {
  await tx
    .updateTable("connect_requests")
    .set({ polled_at: polledAt, poll_seconds: pollSeconds })
    .where("id", "=", id)
    .execute();
}

/** Kept this long to detect reuse of a code. */
const keptMs = 24 * 60 * 60_000;

export async function deleteOldRequests(database: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptMs);
  await database.deleteFrom("connect_requests").where("expires_at", "<", before).execute();
}

const requestColumns = [
  "id",
  "kind",
  "client",
  "state",
  "redirect_uri",
  "client_state",
  "code_challenge",
  "user_code",
  "polled_at",
  "poll_seconds",
  "session_id",
  "user_id",
  "account_id",
  "key_days",
  "budget_nano",
  "key_id",
  "client_address",
  "client_user_agent",
  "created_at",
  "expires_at",
] as const;

function selectRequests(database: Database) {
  return database.selectFrom("connect_requests").select(requestColumns);
}

type RequestRow = Awaited<ReturnType<ReturnType<typeof selectRequests>["executeTakeFirstOrThrow"]>>;

function toRequest(row: RequestRow): ConnectRequest {
  return {
    id: row.id,
    client: row.client,
    way: row.kind === "browser" ? toBrowserWay(row) : toDeviceWay(row),
    // A check constraint restricts the values.
    state: row.state as ConnectState,
    owner: toOwner(row),
    terms: { days: row.key_days, budget: row.budget_nano === null ? null : nano(row.budget_nano) },
    keyId: row.key_id as KeyId | null,
    expiresAt: row.expires_at,
  };
}

function toBrowserWay({ id, ...row }: RequestRow): BrowserWay {
  const { redirect_uri: redirectUri, client_state: clientState, code_challenge: codeChallenge } = row;
  invariant(redirectUri !== null && clientState !== null, `request ${id} has no callback`);
  return { kind: "browser", redirectUri, clientState, codeChallenge };
}

function toDeviceWay({ id, ...row }: RequestRow): DeviceWay {
  const { user_code: userCode, poll_seconds: pollSeconds, polled_at: polledAt } = row;
  const { client_address: address, client_user_agent: userAgent, created_at: at } = row;
  invariant(userCode !== null && pollSeconds !== null, `request ${id} has no user code`);
  invariant(address !== null && userAgent !== null, `request ${id} has no client address`);
  return { kind: "device", userCode, pollSeconds, polledAt, asker: { address, userAgent, at } };
}

function toOwner(row: RequestRow): RequestOwner | null {
  if (row.session_id === null || row.user_id === null || row.account_id === null) return null;
  return {
    sessionId: row.session_id as SessionId,
    userId: row.user_id as UserId,
    accountId: row.account_id as AccountId,
  };
}
