import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { invariant } from "../../../../lib/invariant.ts";

/** argon2id with OWASP's recommended memory and passes. */
const memoryKib = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

/** The PHC string of a password. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await promisify(argon2)("argon2id", {
    message: password.normalize("NFKC"),
    nonce,
    memory: memoryKib,
    passes,
    parallelism,
    tagLength: hashBytes,
  });
  return presentPhc(nonce, hash);
}

/** A dummy hash, to spend the time of a verification without a password. */
export const standInHash = presentPhc(Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));

function presentPhc(nonce: Buffer, hash: Buffer): string {
  const parameters = `m=${memoryKib},t=${passes},p=${parallelism}`;
  return `$argon2id$v=19$${parameters}$${presentBase64(nonce)}$${presentBase64(hash)}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether the PHC string matches the password, in constant time. */
export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  const [, memory, passCount, lanes, salt = "", hash = ""] = phcPattern.exec(phc) ?? [];
  invariant(memory !== undefined, "stored password is not an argon2id PHC string");
  const expected = Buffer.from(hash, "base64");
  const found = await promisify(argon2)("argon2id", {
    message: password.normalize("NFKC"),
    nonce: Buffer.from(salt, "base64"),
    memory: Number(memory),
    passes: Number(passCount),
    parallelism: Number(lanes),
    tagLength: expected.length,
  });
  return timingSafeEqual(found, expected);
}

/** PHC strings omit base64 padding. */
function presentBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
