import { hash } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";

/** Credit that whoever has the code can take once. */
export type RedeemCode = {
  id: `code_${string}`;
  lastFour: string;
  kind: "cash" | "gift";
  amount: Nano;
  currency: string;
  /** How long the gift lasts once it is redeemed; `null` for ever. */
  giftDays: number | null;
  note: string;
  createdAt: Date;
  /** Until when it can be redeemed. */
  expiresAt: Date | null;
  voidedAt: Date | null;
  redeemedAt: Date | null;
  redeemedBy: AccountId | null;
};

/** Crockford's alphabet: what is read aloud or written down comes back the same. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const groupCount = 4;
const groupCharacters = 5;
const dayMs = 24 * 60 * 60 * 1000;

export function createCodeText(randomBytes: (count: number) => Uint8Array): string {
  const characters = [...randomBytes(groupCount * groupCharacters)].map((byte) => alphabet.charAt(byte & 31)).join("");
  const groups = Array.from({ length: groupCount }, (_, index) =>
    characters.slice(index * groupCharacters, (index + 1) * groupCharacters),
  );
  return groups.join("-");
}

export function hashCode(text: string): Buffer {
  return hash("sha256", readPlainCode(text), "buffer");
}

/** Whether the text can be a code at all; whoever types one that cannot has made a slip, not a guess. */
export function isCodeText(text: string): boolean {
  const plain = readPlainCode(text);
  return plain.length === groupCount * groupCharacters && [...plain].every((character) => alphabet.includes(character));
}

/** However it was written down: without the dashes, in small letters, with an O for a zero. */
function readPlainCode(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll("O", "0").replaceAll(/[IL]/g, "1");
}

/** Until when what a code gives can be spent, if it is redeemed at the given moment. */
export function decideGiftEnd({ giftDays }: Pick<RedeemCode, "giftDays">, redeemedAt: Date): Date | null {
  return giftDays === null ? null : new Date(redeemedAt.getTime() + giftDays * dayMs);
}
