import type { AccountId } from "../../../lib/ids.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { findKeptFrom, getRequest, type RequestReading } from "../read-requests.ts";
import { type ContentPlace, deleteContent, findContent, listContentIds } from "./content-store.ts";
import type { KeptContent, StoredContent } from "./request-content.ts";
import type { ContentSeal } from "./seal-content.ts";

export type ContentReading = RequestReading & {
  /** How long content is kept; 0 means none is stored. */
  contentDays: number;
  contentSeal: Pick<ContentSeal, "open">;
};

/** A request's stored content; `content` is `null` if it was lost or deleted. */
export type ReadContent = Pick<StoredContent, "state"> & { id: string; expiresAt: Date; content: KeptContent | null };

const dayMs = 24 * 60 * 60 * 1000;

/** The account's requests that have stored content. */
export async function findContentIds(
  { database, clock, contentDays }: ContentReading,
  accountId: AccountId,
  requests: readonly { id: string; createdAt: Date }[],
): Promise<ReadonlySet<string>> {
  if (contentDays === 0) return new Set();
  return await listContentIds(database, { accountId, requests, keptFrom: findKeptFrom(clock, contentDays) });
}

export async function getContent(reading: ContentReading, accountId: AccountId, id: string): Promise<ReadContent> {
  const { place, stored } = await requireContent(reading, accountId, id);
  const expiresAt = new Date(place.createdAt.getTime() + reading.contentDays * dayMs);
  const content = stored.sealed === null ? null : await openContent(reading, place, stored.sealed);
  return { id, state: stored.state, expiresAt, content };
}

/** Lets users delete content in which they see a secret. */
export async function removeContent(reading: ContentReading, accountId: AccountId, id: string): Promise<ReadContent> {
  const { place } = await requireContent(reading, accountId, id);
  await deleteContent(reading.database, place);
  return await getContent(reading, accountId, id);
}

async function requireContent(
  reading: ContentReading,
  accountId: AccountId,
  id: string,
): Promise<{ place: ContentPlace; stored: StoredContent }> {
  const { createdAt, method } = await getRequest(reading, accountId, id);
  const { contentDays, database, clock } = reading;
  if (contentDays === 0) throw createMissing("This service does not store the content of requests.");
  if (createdAt < findKeptFrom(clock, contentDays)) {
    throw createMissing(`The content of this request has expired: it is kept for ${presentDays(contentDays)}.`);
  }
  const place = { accountId, createdAt, id };
  const stored = await findContent(database, place);
  if (stored !== null) return { place, stored };
  if (method === "GET" || method === "HEAD") throw createMissing("The content of read requests is not stored.");
  throw createMissing("The key's content log was off when the request was made.");
}

async function openContent({ contentSeal }: ContentReading, place: ContentPlace, sealed: Buffer): Promise<KeptContent> {
  try {
    return await contentSeal.open(place, sealed);
  } catch (cause) {
    throw new AppError("not_found", "The content was encrypted with a key that this service no longer has.", {
      param: "request_id",
      cause,
    });
  }
}

function createMissing(message: string): AppError {
  return new AppError("not_found", message, { param: "request_id" });
}

function presentDays(days: number): string {
  return days === 1 ? "a day" : `${days} days`;
}
