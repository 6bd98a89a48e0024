import { hash } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";

/** Credit that the holder of the code can redeem once. */
export type RedeemCode = {
  id: `code_${string}`;
  /** The codes that were created together; `null` for codes of earlier versions. */
  batchId: string | null;
  lastFour: string;
  kind: "cash" | "gift";
  amount: Nano;
  currency: string;
  /** Days until the redeemed gift expires; `null` for never. */
  giftDays: number | null;
  note: string;
  createdAt: Date;
  /** The last time to redeem it. */
  expiresAt: Date | null;
  voidedAt: Date | null;
  redeemedAt: Date | null;
  redeemedBy: AccountId | null;
};

/** Crockford's base32: no letters that look or sound alike. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const groupCount = 4;
const groupCharacters = 5;
const dayMs = 24 * 60 * 60 * 1000;

/** What the codes of a batch have in common. */
export type CodeBatch = Pick<
  RedeemCode,
  "kind" | "amount" | "currency" | "giftDays" | "note" | "createdAt" | "expiresAt"
> & {
  id: `batch_${string}`;
  codes: number;
  createdBy: string;
};

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

/** Whether the text has the form of a code. If not, it is a typo, not a guess. */
export function isCodeText(text: string): boolean {
  const plain = readPlainCode(text);
  return plain.length === groupCount * groupCharacters && [...plain].every((character) => alphabet.includes(character));
}

/** Normalizes case, dashes, spaces and the letters O, I and L. */
function readPlainCode(text: string): string {
  return text.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll("O", "0").replaceAll(/[IL]/g, "1");
}

/** When the credit of a code that is redeemed at the given time expires. */
export function decideGiftEnd({ giftDays }: Pick<RedeemCode, "giftDays">, redeemedAt: Date): Date | null {
  return giftDays === null ? null : new Date(redeemedAt.getTime() + giftDays * dayMs);
}
