import { createHash } from "node:crypto";
import type { Database } from "../../../../platform/database/database.ts";
import type { SiteDependencies } from "../../site-dependencies.ts";
import { insertToken, type StoredToken, type TokenKind } from "./user-token-store.ts";

const tokenBytes = 32;

/** The token's text, and its stored hash. */
type SecretToken = { text: string; hash: Buffer };

export function makeToken(randomBytes: (count: number) => Uint8Array): SecretToken {
  const text = Buffer.from(randomBytes(tokenBytes)).toString("base64url");
  return { text, hash: hashToken(text) };
}

/** 32 random bytes cannot be guessed, so a plain hash is safe. */
export function hashToken(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** What creates a link, also on the command line. */
export type LinkDependencies = Pick<SiteDependencies, "database" | "clock" | "randomBytes" | "siteUrl">;

/** `token` is set if it was already handed out. */
type NewToken = { kind: TokenKind; validMs: number; token?: SecretToken } & Partial<
  Pick<StoredToken, "email" | "userId" | "details">
>;

/** Stores a link's or cookie's token and returns its text. */
export async function issueToken(
  tx: Database,
  { clock, randomBytes }: Pick<SiteDependencies, "clock" | "randomBytes">,
  { kind, validMs, email = null, userId = null, details = {}, token = makeToken(randomBytes) }: NewToken,
): Promise<string> {
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + validMs);
  await insertToken(tx, { hash: token.hash, kind, email, userId, details, createdAt, expiresAt });
  return token.text;
}
