import { createHash } from "node:crypto";

/**
 * One-time tokens with an expiry: `sign-up`, `invite` and `reset-password` are links, the others cookies of unfinished
 * sign-ins.
 */
export type TokenKind = "sign-up" | "invite" | "reset-password" | "second-factor" | "passkey" | "provider";

const tokenBytes = 32;

/** The token's text, and its stored hash. */
export type SecretToken = { text: string; hash: Buffer };

export function makeToken(randomBytes: (count: number) => Uint8Array): SecretToken {
  const text = Buffer.from(randomBytes(tokenBytes)).toString("base64url");
  return { text, hash: hashToken(text) };
}

/** 32 random bytes cannot be guessed, so a plain hash is safe. */
export function hashToken(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
