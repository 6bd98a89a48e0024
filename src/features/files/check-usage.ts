import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { FileLimits } from "./file.ts";
import type { FileUsage } from "./file-store.ts";

/** Whether an account has credit, a quota or a plan; injected, because features of one rank do not import each other. */
export type HasMoney = (database: Database, accountId: AccountId) => Promise<boolean>;

/** An account's upload quota. */
export type Quota = { isPaid: boolean; filesMax: number; bytesMax: number };

export function chooseQuota(
  { accountFilesMax, accountBytesMax, unpaidFilesMax, unpaidBytesMax }: FileLimits,
  isPaid: boolean,
): Quota {
  if (isPaid) return { isPaid, filesMax: accountFilesMax, bytesMax: accountBytesMax };
  return {
    isPaid,
    filesMax: Math.min(unpaidFilesMax, accountFilesMax),
    bytesMax: Math.min(unpaidBytesMax, accountBytesMax),
  };
}

export function isWithin({ files, bytes }: FileUsage, { filesMax, bytesMax }: Quota): boolean {
  return files <= filesMax && bytes <= bytesMax;
}

export function createQuotaError({ isPaid, filesMax, bytesMax }: Quota): AppError {
  const options = { param: "file" };
  const quota = `${filesMax} uploaded files and ${bytesMax} bytes`;
  return isPaid
    ? new AppError("payload_too_large", `An account can store at most ${quota}. Delete files first.`, options)
    : new AppError(
        "insufficient_balance",
        `An account without credit can store at most ${quota}. Add credit or delete files.`,
        options,
      );
}
