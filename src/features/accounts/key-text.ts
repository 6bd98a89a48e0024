import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The text of an API key: `sk-slc-`, 30 random base62 characters (178 bits), 6 base62 characters of CRC-32 over the
 * rest. The checksum rejects mistyped keys without a query.
 */
export const keyPrefix = "sk-slc-";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomCharacters = 30;
const checksumCharacters = 6;
const keyPattern = new RegExp(`^${keyPrefix}[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`);

/** Rejection sampling: bytes from here on would bias the letters. */
const fairByteEnd = 256 - (256 % alphabet.length);

export function createKeyText(randomBytes: (count: number) => Uint8Array): string {
  let random = "";
  while (random.length < randomCharacters) {
    for (const byte of randomBytes(randomCharacters - random.length)) {
      if (byte < fairByteEnd) random += alphabet.charAt(byte % alphabet.length);
    }
  }
  const body = keyPrefix + random;
  return body + computeChecksum(body);
}

/** Checks the form and the checksum. */
export function isWellFormedKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  const body = text.slice(0, -checksumCharacters);
  return text.slice(-checksumCharacters) === computeChecksum(body);
}

/** Hexadecimal SHA-256, as stored. 178 random bits need no slow hash or salt: there is no dictionary to try. */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

const lastKey = Symbol("the last API key of a connection");

/** A connection remembers its last key, so that its next request need not hash it again. */
export type KeyedConnection = object & { [lastKey]?: { text: string; hash: string } };

const keyCharacters = keyPrefix.length + randomCharacters + checksumCharacters;

export function hashKeyOf(connection: KeyedConnection, text: string): string {
  const known = connection[lastKey];
  if (known !== undefined && known.text === text) return known.hash;
  const hashed = hashKey(text);
  // Other texts are no keys, and may be long.
  if (text.length === keyCharacters) connection[lastKey] = { text, hash: hashed };
  return hashed;
}

function computeChecksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let place = 0; place < checksumCharacters; place += 1) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
