import type { Clock } from "../../lib/clock.ts";
import type { AccountId, FileId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { isLinkValid, parseLink } from "./file-link.ts";
import { findFile } from "./file-store.ts";

/** Resolves one of our signed links without fetching it; `null` for any other URL. */
export async function findLinkedFile(
  { database, clock, linkKey, siteUrl }: { database: Database; clock: Clock; linkKey: Buffer; siteUrl: string },
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
