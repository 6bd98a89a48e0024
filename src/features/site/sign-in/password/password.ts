import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { invariant } from "../../../../lib/invariant.ts";

/** argon2id with the memory and passes that OWASP advises. */
const memoryKib = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

/** The PHC string of a password: everything that a later check needs. */
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

/** Of no password: for spending the time of a check where there is nothing to check. */
export const standInHash = presentPhc(Buffer.alloc(saltBytes), Buffer.alloc(hashBytes));

function presentPhc(nonce: Buffer, hash: Buffer): string {
  const parameters = `m=${memoryKib},t=${passes},p=${parallelism}`;
  return `$argon2id$v=19$${parameters}$${presentBase64(nonce)}$${presentBase64(hash)}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether the PHC string was made from this password. Takes as long for a wrong one as for the right one. */
export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  const [, memory, passCount, lanes, salt = "", hash = ""] = phcPattern.exec(phc) ?? [];
  invariant(memory !== undefined, "a stored password is not a PHC string of argon2id");
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

/** PHC strings leave the padding out. */
function presentBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
