import { createHash } from "node:crypto";

/**
 * What can be used once and for a while: `sign-up`, `invite` and `reset-password` are links, the others are cookies of
 * a sign-in that is half done.
 */
export type TokenKind = "sign-up" | "invite" | "reset-password" | "second-factor" | "passkey" | "provider";

const tokenBytes = 32;

/** The text that the link or cookie holds, and what is stored of it. */
export type SecretToken = { text: string; hash: Buffer };

export function makeToken(randomBytes: (count: number) => Uint8Array): SecretToken {
  const text = Buffer.from(randomBytes(tokenBytes)).toString("base64url");
  return { text, hash: hashToken(text) };
}

/** Nobody can guess 32 random bytes, so a plain hash keeps them. */
export function hashToken(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
