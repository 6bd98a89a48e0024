import { argon2, randomBytes } from "node:crypto";
import { promisify } from "node:util";

/** argon2id with the memory and passes that OWASP advises. */
const memoryKib = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

export const passwordCharactersMin = 8;
export const passwordCharactersMax = 256;

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
  const parameters = `m=${memoryKib},t=${passes},p=${parallelism}`;
  return `$argon2id$v=19$${parameters}$${presentBase64(nonce)}$${presentBase64(hash)}`;
}

/** PHC strings leave the padding out. */
function presentBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
