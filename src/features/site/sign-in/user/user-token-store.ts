import type { UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

/**
 * One-time tokens with an expiry: `sign-up`, `invite` and `reset-password` are links, the others cookies of unfinished
 * sign-ins.
 */
export type TokenKind = "sign-up" | "invite" | "reset-password" | "second-factor" | "passkey" | "provider";

/** `details` depends on the kind; its writer parses it. */
export type StoredToken = {
  hash: Buffer;
  kind: TokenKind;
  email: string | null;
  userId: UserId | null;
  details: Record<string, unknown>;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertToken(tx: Database, token: StoredToken): Promise<void> {
  await tx
    .insertInto("user_tokens")
    .values({
      hash: token.hash,
      kind: token.kind,
      email: token.email?.toLowerCase() ?? null,
      user_id: token.userId,
      details: JSON.stringify(token.details),
      created_at: token.createdAt,
      expires_at: token.expiresAt,
    })
    .execute();
}

export async function findToken(
  database: Database,
  { kind, hash, now }: { kind: TokenKind; hash: Buffer; now: Date },
): Promise<StoredToken | null> {
  const row = await selectTokens(database, { kind, now }).where("hash", "=", hash).executeTakeFirst();
  return row === undefined ? null : toToken(row);
}

/** The newest token of a kind for an address. */
export async function findTokenByEmail(
  database: Database,
  { kind, email, now }: { kind: TokenKind; email: string; now: Date },
): Promise<StoredToken | null> {
  const row = await selectTokens(database, { kind, now })
    .where("email", "=", email.toLowerCase())
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : toToken(row);
}

/** Consumes a token: under concurrency one caller gets it. */
export async function takeToken(
  tx: Database,
  { kind, hash, now }: { kind: TokenKind; hash: Buffer; now: Date },
): Promise<StoredToken | null> {
  const row = await tx
    .deleteFrom("user_tokens")
    .where("hash", "=", hash)
    .where("kind", "=", kind)
    .where("expires_at", ">", now)
    .returning(tokenColumns)
    .executeTakeFirst();
  return row === undefined ? null : toToken(row);
}

export async function deleteTokensByEmail(tx: Database, kind: TokenKind, email: string): Promise<void> {
  await tx.deleteFrom("user_tokens").where("kind", "=", kind).where("email", "=", email.toLowerCase()).execute();
}

export async function deleteTokensOfUser(tx: Database, kinds: readonly TokenKind[], userId: UserId): Promise<void> {
  await tx.deleteFrom("user_tokens").where("kind", "in", kinds).where("user_id", "=", userId).execute();
}

export async function deleteExpiredTokens(database: Database, now: Date): Promise<void> {
  await database.deleteFrom("user_tokens").where("expires_at", "<=", now).execute();
}

const tokenColumns = ["hash", "kind", "email", "user_id", "details", "created_at", "expires_at"] as const;

function selectTokens(database: Database, { kind, now }: { kind: TokenKind; now: Date }) {
  return database.selectFrom("user_tokens").select(tokenColumns).where("kind", "=", kind).where("expires_at", ">", now);
}

type TokenRow = Awaited<ReturnType<ReturnType<typeof selectTokens>["executeTakeFirstOrThrow"]>>;

function toToken(row: TokenRow): StoredToken {
  return {
    hash: row.hash,
    // Check constraints enforce kinds and prefixes, and only `insertToken` writes details.
    kind: row.kind as TokenKind,
    email: row.email,
    userId: row.user_id as UserId | null,
    details: row.details as Record<string, unknown>,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
