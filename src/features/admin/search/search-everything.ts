import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { findByForeignId, type ShownRequest, showRequest } from "../../requests/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import { type AdminHit, findAdminHits } from "./admin-search-store.ts";

const hitsMax = 20;

type SearchOutcome = {
  hits: AdminHit[];
  /** The request log was read back to here, because more would take too long; `null` if all of it was read. */
  requestsFrom: Date | null;
};

/** Finds objects of every account by id, its beginning, an address, a name, or a vendor's or client's id. Newest first. */
export async function searchEverything(
  { database, clock, requestDays }: { database: Database; clock: Clock; requestDays: number },
  words: string,
): Promise<SearchOutcome> {
  const text = words.trim();
  if (/^req_[0-9a-z]{26}$/i.test(text)) {
    return { hits: await findRequestHits(database, [await findRequest(database, text)]), requestsFrom: null };
  }
  if (!/^[!-~]{1,512}$/.test(text)) return { hits: await findAdminHits(database, text, hitsMax), requestsFrom: null };
  // At the same time, as each may take a while.
  const found = new AbortController();
  const reading = { database, clock, keptDays: requestDays };
  const [hits, { records, from }] = await Promise.all([
    findAdminHits(database, text, hitsMax).then((own) => {
      if (own.length > 0) found.abort();
      return own;
    }),
    findByForeignId(reading, text, { limit: hitsMax, signal: found.signal }),
  ]);
  if (hits.length > 0) return { hits, requestsFrom: null };
  return { hits: await findRequestHits(database, records), requestsFrom: from };
}

async function findRequest(database: Database, id: string): Promise<ShownRequest | null> {
  try {
    return await showRequest(database, id.toLowerCase());
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return null;
    throw error;
  }
}

async function findRequestHits(database: Database, found: readonly (ShownRequest | null)[]): Promise<AdminHit[]> {
  const requests = found.filter((request) => request !== null);
  const emails = await findAccountEmails(
    database,
    requests.map(({ accountId }) => accountId),
  );
  return requests.map((request) => ({
    kind: "request",
    id: request.id,
    name: request.model ?? `${request.method} ${request.route ?? "unknown path"}`,
    status: String(request.status),
    accountId: request.accountId,
    email: emails.get(request.accountId) ?? null,
    requestId: request.id,
    createdAt: request.createdAt,
  }));
}
