import { argon2Sync, randomBytes } from "node:crypto";

/**
 * The PHC string of a password at the smallest cost of argon2id. The gateway reads the cost from the string, so it
 * verifies this password in 0.2 ms instead of 40.
 */
export function hashPasswordCheaply(password: string): string {
  const nonce = randomBytes(16);
  const [memory, passes, parallelism] = [8, 1, 1];
  const message = password.normalize("NFKC");
  const hash = argon2Sync("argon2id", { message, nonce, memory, passes, parallelism, tagLength: 32 });
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${presentBase64(nonce)}$${presentBase64(hash)}`;
}

/** PHC strings omit base64 padding. */
function presentBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
