import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { StoredFile } from "./file.ts";
import { findFile } from "./file-store.ts";
import { requireKind, type WantedMedia } from "./inspect-spooled.ts";

export const fileIdPattern = /^file_[0-9a-z]{26}$/;

type FileLookup = { database: Database; clock: Clock };

/** Returns an unexpired file of the account; a file of another account does not exist for it. */
export async function getOwnFile(
  dependencies: FileLookup,
  fileId: string,
  { accountId, param }: { accountId: AccountId; param: string },
): Promise<StoredFile> {
  const file = await findUnexpired(dependencies, fileId);
  if (file === null || file.accountId !== accountId) throw createFileNotFound(param);
  return file;
}

/** Returns an unexpired file for a verified signed link, which grants access without an account. */
export async function getLinkedFile(dependencies: FileLookup, fileId: string): Promise<StoredFile> {
  const file = await findUnexpired(dependencies, fileId);
  if (file === null) throw createFileNotFound();
  return file;
}

async function findUnexpired({ database, clock }: FileLookup, fileId: string): Promise<StoredFile | null> {
  const file = fileIdPattern.test(fileId) ? await findFile(database, fileId) : null;
  return file !== null && file.expiresAt > clock.now() ? file : null;
}

export async function getFileOfKind(
  dependencies: FileLookup,
  accountId: AccountId,
  { fileId, wanted }: { fileId: string; wanted: WantedMedia },
): Promise<StoredFile> {
  const file = await getOwnFile(dependencies, fileId, { accountId, param: wanted.param });
  requireKind(file.kind, wanted);
  return file;
}

/** The same error whether the file never existed, belongs to another account, has expired or was deleted. */
export function createFileNotFound(param?: string, cause?: unknown): AppError {
  const options = { ...(param === undefined ? {} : { param }), cause };
  return new AppError("file_not_found", "There is no such file, or it has expired.", options);
}
