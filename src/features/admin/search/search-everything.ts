import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { listAnyRequests, type ShownRequest, showRequest } from "../../requests/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import { type AdminHit, findAdminHits } from "./admin-search-store.ts";

const hitsMax = 20;
const dayMs = 24 * 60 * 60_000;
/** A client's own request id is looked for in this time; longer would read too many blocks. */
const clientIdDays = 2;
const clockMarginMs = 60_000;

/** Finds objects of every account by id, its beginning, an address, a name, or a vendor's or client's id. Newest first. */
export async function searchEverything(
  { database, clock }: { database: Database; clock: Clock },
  words: string,
): Promise<AdminHit[]> {
  const text = words.trim();
  if (/^req_[0-9a-z]{26}$/i.test(text)) return await findRequestHits(database, [await findRequest(database, text)]);
  const hits = await findAdminHits(database, text, hitsMax);
  if (hits.length > 0 || !/^[!-~]{1,512}$/.test(text)) return hits;
  return await findRequestHits(database, await findByClientId({ database, clock }, text));
}

async function findRequest(database: Database, id: string): Promise<ShownRequest | null> {
  try {
    return await showRequest(database, id.toLowerCase());
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return null;
    throw error;
  }
}

async function findByClientId(
  { database, clock }: { database: Database; clock: Clock },
  clientRequestId: string,
): Promise<ShownRequest[]> {
  const now = clock.now().getTime();
  const everything = { accountId: null, model: null, keyId: null, wire: null, status: null, errorCode: null };
  const filter = { ...everything, upstream: null, hasFailedAttempt: false, clientRequestId };
  const period = { from: new Date(now - clientIdDays * dayMs), to: new Date(now + clockMarginMs) };
  return (await listAnyRequests(database, { ...filter, ...period }, { after: null, limit: hitsMax })).records;
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
