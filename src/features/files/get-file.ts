import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type ByteRange, MissingBytesError } from "../../platform/storage/byte-store.ts";
import type { StoredFile } from "./file.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { isLinkValid, parseLink } from "./file-link.ts";
import { findFile } from "./file-store.ts";
import { requireKind, type WantedMedia } from "./inspect-spooled.ts";

export const fileIdPattern = /^file_[0-9a-z]{26}$/;

/** Returns an unexpired file of the account; a file of another account does not exist for it. */
export async function getOwnFile(
  dependencies: FileDependencies,
  fileId: string,
  { accountId, param }: { accountId: AccountId; param: string },
): Promise<StoredFile> {
  const file = await findUnexpired(dependencies, fileId);
  if (file === null || file.accountId !== accountId) throw createFileNotFound(param);
  return file;
}

/** Returns an unexpired file for a verified signed link, which grants access without an account. */
export async function getLinkedFile(dependencies: FileDependencies, fileId: string): Promise<StoredFile> {
  const file = await findUnexpired(dependencies, fileId);
  if (file === null) throw createFileNotFound();
  return file;
}

async function findUnexpired({ database, clock }: FileDependencies, fileId: string): Promise<StoredFile | null> {
  const file = fileIdPattern.test(fileId) ? await findFile(database, fileId) : null;
  return file !== null && file.expiresAt > clock.now() ? file : null;
}

export async function getFileOfKind(
  dependencies: FileDependencies,
  accountId: AccountId,
  { fileId, wanted }: { fileId: string; wanted: WantedMedia },
): Promise<StoredFile> {
  const file = await getOwnFile(dependencies, fileId, { accountId, param: wanted.param });
  requireKind(file.kind, wanted);
  return file;
}

/** Resolves one of our signed links without fetching it; `null` for any other URL. */
export async function findLinkedFile(
  { database, clock, linkKey, siteUrl }: FileDependencies,
  accountId: AccountId,
  { url, param }: { url: string; param: string },
): Promise<FileId | null> {
  const link = parseLink(url, { siteUrl });
  if (link === null) return null;
  const now = clock.now();
  const file = isLinkValid(linkKey, link, now) ? await findFile(database, link.fileId) : null;
  if (file !== null && file.accountId === accountId && file.expiresAt > now) return file.id;
  const message = "The link is invalid or has expired, or its file was deleted. Send the file's `file_id` instead.";
  throw new AppError("invalid_url", message, { param });
}

export async function openFile(
  { bytes }: FileDependencies,
  { storageKey }: StoredFile,
  range?: ByteRange,
): Promise<Readable> {
  try {
    return await bytes.open(storageKey, range);
  } catch (error) {
    // The file was deleted after it was found.
    throw error instanceof MissingBytesError ? createFileNotFound(undefined, error) : error;
  }
}

/** Reads a whole document of the account; its size was limited when it was stored. */
export async function readDocument(
  dependencies: FileDependencies,
  accountId: AccountId,
  { fileId, param }: { fileId: string; param: string },
): Promise<Buffer> {
  const wanted = { param, kinds: ["document"] } as const;
  const file = await getFileOfKind(dependencies, accountId, { fileId, wanted });
  return await buffer(await openFile(dependencies, file));
}

/** The same error whether the file never existed, belongs to another account, has expired or was deleted. */
export function createFileNotFound(param?: string, cause?: unknown): AppError {
  const options = { ...(param === undefined ? {} : { param }), cause };
  return new AppError("file_not_found", "There is no such file, or it has expired.", options);
}
