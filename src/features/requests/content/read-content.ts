import type { AccountId } from "../../../lib/ids.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { findKeptFrom, getRequest, type RequestReading } from "../read-requests.ts";
import { type ContentPlace, deleteContent, findContent, listContentIds } from "./content-store.ts";
import type { KeptContent, StoredContent } from "./request-content.ts";
import type { ContentSeal } from "./seal-content.ts";

export type ContentReading = RequestReading & {
  /** How long contents are kept; with 0 there are none. */
  contentDays: number;
  contentSeal: Pick<ContentSeal, "open">;
};

/** What is known of the bodies of a request; `content` is `null` where they were lost or deleted. */
export type ReadContent = Pick<StoredContent, "state"> & { id: string; expiresAt: Date; content: KeptContent | null };

const dayMs = 24 * 60 * 60 * 1000;

/** Which of an account's requests have a content to be asked for. */
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

/** Whoever sees a secret in the log can take it back. */
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
  if (contentDays === 0) throw createMissing("This service keeps no contents of requests.");
  if (createdAt < findKeptFrom(clock, contentDays)) {
    throw createMissing(`The content of a request is kept for ${presentDays(contentDays)}, and these are over.`);
  }
  const place = { accountId, createdAt, id };
  const stored = await findContent(database, place);
  if (stored !== null) return { place, stored };
  if (method === "GET" || method === "HEAD") throw createMissing("Of a request that only reads, no content is kept.");
  throw createMissing("The content log of the key was off when the request was made.");
}

async function openContent({ contentSeal }: ContentReading, place: ContentPlace, sealed: Buffer): Promise<KeptContent> {
  try {
    return await contentSeal.open(place, sealed);
  } catch (cause) {
    throw new AppError("not_found", "The content was sealed with a key that this service does not have any more.", {
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
