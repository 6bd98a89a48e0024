import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { StoredFile } from "./file.ts";
import { findFile } from "./file-store.ts";
import { requireKind, type WantedMedia } from "./inspect-spooled.ts";

export const fileIdPattern = /^file_[0-9a-z]{26}$/;

/** A file that has not expired; `accountId` is left out by who holds a signed link. */
export async function getFile(
  { database, clock }: { database: Database; clock: Clock },
  fileId: string,
  { accountId, param }: { accountId?: AccountId; param?: string } = {},
): Promise<StoredFile> {
  const file = fileIdPattern.test(fileId) ? await findFile(database, fileId) : null;
  const isThere = file !== null && file.expiresAt > clock.now();
  if (isThere && (accountId === undefined || file.accountId === accountId)) return file;
  throw createFileNotFound(param);
}

export async function getFileOfKind(
  { database, clock }: { database: Database; clock: Clock },
  accountId: AccountId,
  { fileId, wanted }: { fileId: string; wanted: WantedMedia },
): Promise<StoredFile> {
  const file = await getFile({ database, clock }, fileId, { accountId, param: wanted.param });
  requireKind(file.kind, wanted);
  return file;
}

/** The same whether it never was, is another's, has expired or was deleted. */
export function createFileNotFound(param?: string, cause?: unknown): AppError {
  const options = { ...(param === undefined ? {} : { param }), cause };
  return new AppError("file_not_found", "There is no such file, or its time is over.", options);
}
