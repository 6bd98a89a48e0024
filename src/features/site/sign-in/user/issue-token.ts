import type { Clock } from "../../../../lib/clock.ts";
import type { Database } from "../../../../platform/database/database.ts";
import { makeToken, type SecretToken, type TokenKind } from "./user-token.ts";
import { insertToken, type StoredToken } from "./user-token-store.ts";

export type TokenDependencies = { clock: Clock; randomBytes: (count: number) => Uint8Array };

/** `token` is set if it was already handed out. */
type NewToken = { kind: TokenKind; validMs: number; token?: SecretToken } & Partial<
  Pick<StoredToken, "email" | "userId" | "details">
>;

/** Stores a link's or cookie's token and returns its text. */
export async function issueToken(
  tx: Database,
  { clock, randomBytes }: TokenDependencies,
  { kind, validMs, email = null, userId = null, details = {}, token = makeToken(randomBytes) }: NewToken,
): Promise<string> {
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + validMs);
  await insertToken(tx, { hash: token.hash, kind, email, userId, details, createdAt, expiresAt });
  return token.text;
}
