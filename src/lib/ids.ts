import type { Clock } from "./clock.ts";
import { invariant } from "./invariant.ts";

export type AccountId = `acct_${string}`;
export type KeyId = `key_${string}`;
export type HoldId = `hold_${string}`;
export type TransactionId = `txn_${string}`;
export type PocketId = `pkt_${string}`;

type Prefix = "acct" | "act" | "code" | "hold" | "key" | "node" | "per" | "price" | "req" | "txn";

export type IdSource = {
  /** A new id; the text order of ids is their order in time, to the millisecond. */
  next<P extends Prefix>(prefix: P): `${P}_${string}`;
};

/** Crockford's alphabet: no i, l, o or u, so an id survives being read aloud. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeCharacters = 10; // 50 bits hold the milliseconds of 35 000 years
const randomCharacters = 16; // 80 bits

/** Random bytes are drawn in blocks because one draw for each id would be the dearest part of making it. */
const randomBlockBytes = 4096;

export function createIdSource(parts: { clock: Clock; randomBytes: (count: number) => Uint8Array }): IdSource {
  let block: Uint8Array = new Uint8Array(0);
  let used = 0;

  function drawRandomPart(): string {
    if (used + randomCharacters > block.length) {
      block = parts.randomBytes(randomBlockBytes);
      used = 0;
    }
    let text = "";
    for (const byte of block.subarray(used, used + randomCharacters)) text += alphabet.charAt(byte & 31);
    used += randomCharacters;
    return text;
  }

  return {
    next(prefix) {
      return `${prefix}_${presentTime(parts.clock.now().getTime())}${drawRandomPart()}`;
    },
  };
}

function presentTime(milliseconds: number): string {
  invariant(Number.isSafeInteger(milliseconds) && milliseconds >= 0, `${milliseconds} is no time in milliseconds`);
  let rest = milliseconds;
  let text = "";
  for (let place = 0; place < timeCharacters; place += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
