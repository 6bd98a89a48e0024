import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { sumStoredTexts } from "./response-store.ts";

/** The storage quota of an account's responses and conversations. */
export type TextQuota = {
  /**
   * Throws if the account has no room for `bytes` more. Exact after a conversation's write in its transaction, because
   * such writes of one account are serialized.
   */
  require(database: Database, accountId: AccountId, bytes: number): Promise<void>;
  /** Whether the account had enough room recently, so that no query is needed. */
  isRoomy(accountId: AccountId): boolean;
};

type QuotaOptions = {
  clock: Clock;
  accountBytesMax: number;
  unpaidBytesMax: number;
  /** Whether an account has ever paid or has a plan. */
  hasPaid(database: Database, accountId: AccountId): Promise<boolean>;
};

const roomyMs = 5_000;
const roomyAccountsMax = 10_000;
/** An account with this much room skips the check for `roomyMs`: it could only overshoot by paying for many responses. */
const roomBytes = 2 * 1024 * 1024;

export function createTextQuota({ clock, accountBytesMax, unpaidBytesMax, hasPaid }: QuotaOptions): TextQuota {
  const roomyUntilMs = new Map<AccountId, number>();

  function noteRoom(accountId: AccountId, bytesLeft: number): void {
    if (roomyUntilMs.size >= roomyAccountsMax) roomyUntilMs.clear();
    if (bytesLeft >= roomBytes) roomyUntilMs.set(accountId, clock.monotonicMs() + roomyMs);
    else roomyUntilMs.delete(accountId);
  }

  return {
    async require(database, accountId, bytes) {
      const stored = (await sumStoredTexts(database, accountId)) + bytes;
      const smaller = Math.min(unpaidBytesMax, accountBytesMax);
      const isPaid = stored > smaller && (await hasPaid(database, accountId));
      const bytesMax = isPaid ? accountBytesMax : smaller;
      noteRoom(accountId, bytesMax - stored);
      if (stored <= bytesMax) return;
      throw createQuotaError(bytesMax, isPaid);
    },
    isRoomy: (accountId) => (roomyUntilMs.get(accountId) ?? 0) > clock.monotonicMs(),
  };
}

function createQuotaError(bytesMax: number, isPaid: boolean): AppError {
  const room = `may store ${bytesMax} bytes in responses and conversations`;
  const fix = "Delete some, or send `store: false`.";
  return isPaid
    ? new AppError("payload_too_large", `This account ${room}, and this would exceed it. ${fix}`)
    : new AppError("insufficient_balance", `Before its first payment an account ${room}. Add credit for more. ${fix}`);
}
