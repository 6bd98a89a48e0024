import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type CodeBatch, createCodeText, hashCode, type RedeemCode } from "./code.ts";
import { insertBatch, insertCode } from "./code-store.ts";
import { amountMax } from "./ledger-state.ts";

export type NewCodes = Pick<RedeemCode, "kind" | "amount" | "giftDays" | "note" | "expiresAt"> & {
  count: number;
  /** Who creates them; the command line by default. */
  createdBy?: string;
};

const countMax = 1000;
const giftDaysMax = 3650;
const noteCharactersMax = 200;

/** Creates a batch. Returns the codes' texts, which are not stored: the database has only their hashes. */
export async function createCodes(
  dependencies: {
    database: Database;
    clock: Clock;
    ids: IdSource;
    randomBytes: (count: number) => Uint8Array;
    currency: string;
  },
  request: NewCodes,
): Promise<{ code: RedeemCode; text: string }[]> {
  requireNewCodes(request, dependencies.clock.now());
  const { count, createdBy = "command line", ...terms } = request;
  const { currency } = dependencies;
  const createdAt = dependencies.clock.now();
  const batch: CodeBatch = {
    ...terms,
    id: dependencies.ids.next("batch"),
    currency,
    codes: count,
    createdBy,
    createdAt,
  };
  const created = Array.from({ length: count }, () => {
    const text = createCodeText(dependencies.randomBytes);
    const code: RedeemCode = {
      ...terms,
      id: dependencies.ids.next("code"),
      batchId: batch.id,
      lastFour: text.slice(-4),
      currency,
      createdAt,
      voidedAt: null,
      redeemedAt: null,
      redeemedBy: null,
    };
    return { code, text };
  });
  await inTransaction(dependencies.database, async (tx) => {
    await insertBatch(tx, batch);
    for (const { code, text } of created) await insertCode(tx, code, hashCode(text));
  });
  return created;
}

function requireNewCodes({ count, amount, kind, giftDays, note, expiresAt }: NewCodes, now: Date): void {
  const isWithin = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max;
  if (!isWithin(count, countMax)) throw createInvalid("count", `Write a whole number from 1 to ${countMax}.`);
  if (amount < 1n || amount > amountMax) throw createInvalid("amount", "A code's amount must be above zero.");
  if (kind === "cash" && giftDays !== null)
    throw createInvalid("days", "Cash does not expire. Only gifts can have days.");
  if (giftDays !== null && !isWithin(giftDays, giftDaysMax)) {
    throw createInvalid("days", `Write a whole number from 1 to ${giftDaysMax}.`);
  }
  if (note.length > noteCharactersMax)
    throw createInvalid("note", `A note can have up to ${noteCharactersMax} characters.`);
  if (expiresAt !== null && expiresAt <= now) throw createInvalid("expires", "A code must expire in the future.");
}

function createInvalid(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}
