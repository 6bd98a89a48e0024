import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { FileLimits } from "./file.ts";
import type { FileUsage } from "./file-store.ts";

export type QuotaParts = {
  limits: FileLimits;
  /** Whether the account has money, a quota or a plan; handed in, because features of one rank do not know each other. */
  hasMoney(database: Database, accountId: AccountId): Promise<boolean>;
};

/** What an account may have uploaded at a time. */
export type Quota = { isPaid: boolean; filesMax: number; bytesMax: number };

export async function findQuota(
  { limits, hasMoney }: QuotaParts,
  database: Database,
  accountId: AccountId,
): Promise<Quota> {
  const { accountFilesMax, accountBytesMax, unpaidFilesMax, unpaidBytesMax } = limits;
  if (await hasMoney(database, accountId)) {
    return { isPaid: true, filesMax: accountFilesMax, bytesMax: accountBytesMax };
  }
  return {
    isPaid: false,
    filesMax: Math.min(unpaidFilesMax, accountFilesMax),
    bytesMax: Math.min(unpaidBytesMax, accountBytesMax),
  };
}

export function isWithin({ files, bytes }: FileUsage, { filesMax, bytesMax }: Quota): boolean {
  return files <= filesMax && bytes <= bytesMax;
}

export function createQuotaError({ isPaid, filesMax, bytesMax }: Quota): AppError {
  const options = { param: "file" };
  const quota = `${filesMax} uploaded files of ${bytesMax} bytes together`;
  return isPaid
    ? new AppError("payload_too_large", `An account has at most ${quota}. Delete some first.`, options)
    : new AppError(
        "insufficient_balance",
        `An account without credit has at most ${quota}. Add credit, or delete some files.`,
        options,
      );
}
