import type { Clock } from "./clock.ts";
import { invariant } from "./invariant.ts";

export type AccountId = `acct_${string}`;
export type KeyId = `key_${string}`;
export type HoldId = `hold_${string}`;
export type TransactionId = `txn_${string}`;
export type TaskId = `task_${string}`;
export type FileId = `file_${string}`;
export type EventId = `evt_${string}`;
export type WebhookEndpointId = `whe_${string}`;
export type WebhookSessionId = `whs_${string}`;
export type BucketId = `bkt_${string}`;
export type UserId = `user_${string}`;
export type SessionId = `ses_${string}`;
export type CheckoutId = `chk_${string}`;
export type AdminKeyId = `akey_${string}`;
export type AlarmId = `alarm_${string}`;
export type IncidentId = `inc_${string}`;

type Prefix =
  | "acct"
  | "act"
  | "akey"
  | "alarm"
  | "bak"
  | "batch"
  | "blk"
  | "chk"
  | "code"
  | "csch"
  | "cost"
  | "dlv"
  | "evt"
  | "file"
  | "hold"
  | "inc"
  | "key"
  | "node"
  | "note"
  | "passkey"
  | "per"
  | "price"
  | "req"
  | "ses"
  | "sup"
  | "task"
  | "txn"
  | "user"
  | "ver"
  | "view"
  | "whe"
  | "whs";

export type IdSource = {
  /** Ids sort by creation time, to the millisecond. */
  next<P extends Prefix>(prefix: P): `${P}_${string}`;
};

/** Crockford's alphabet: no i, l, o or u, so an id survives being read aloud. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeCharacters = 10; // 50 bits hold the milliseconds of 35 000 years
const randomCharacters = 16; // 80 bits

/** Random bytes are drawn and encoded in blocks; one draw per id would dominate the cost. */
const randomBlockBytes = 4096;
const alphabetCodes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));

export function createIdSource(options: { clock: Clock; randomBytes: (count: number) => Uint8Array }): IdSource {
  let block = "";
  let used = 0;
  /** Caches the encoded time: under load, many ids share a millisecond. */
  let last = { milliseconds: -1, text: "" };

  function drawRandomPart(): string {
    if (used + randomCharacters > block.length) {
      block = presentRandom(options.randomBytes(randomBlockBytes));
      used = 0;
    }
    used += randomCharacters;
    return block.slice(used - randomCharacters, used);
  }

  return {
    next(prefix) {
      const milliseconds = options.clock.now().getTime();
      if (milliseconds !== last.milliseconds) last = { milliseconds, text: presentTime(milliseconds) };
      return `${prefix}_${last.text}${drawRandomPart()}`;
    },
  };
}

/** The smallest id of a millisecond. */
export function presentLeastId<P extends Prefix>(prefix: P, time: Date): `${P}_${string}` {
  return `${prefix}_${presentTime(time.getTime())}`;
}

/** The creation time of an id; `null` for other texts. */
export function readIdTime(id: string): Date | null {
  const text = /^[a-z]+_([0-9a-hjkmnp-tv-z]{10})[0-9a-z]{16}$/.exec(id)?.[1];
  if (text === undefined) return null;
  let milliseconds = 0;
  for (let place = 0; place < timeCharacters; place += 1) {
    milliseconds = milliseconds * 32 + alphabet.indexOf(text.charAt(place));
  }
  return new Date(milliseconds);
}

function presentRandom(bytes: Uint8Array): string {
  return Buffer.from(bytes.map((byte) => alphabetCodes[byte & 31] ?? 0)).toString("latin1");
}

function presentTime(milliseconds: number): string {
  invariant(Number.isSafeInteger(milliseconds) && milliseconds >= 0, `${milliseconds} is not a time in milliseconds`);
  let rest = milliseconds;
  let text = "";
  for (let place = 0; place < timeCharacters; place += 1) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
