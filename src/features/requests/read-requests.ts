import type { Clock } from "../../lib/clock.ts";
import { type AccountId, readIdTime } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createUnknownCursor, parseRange, readTimeZone } from "../usage/index.ts";
import { everyCall, type RequestFilter, type RequestPlace } from "./request-filter.ts";
import type { ReadRequest, RequestGap, ShownRequest } from "./request-record.ts";
import { findAnyRequest, findRequest, listGaps, listRequests, listTaskCharges } from "./request-store.ts";

export type RequestReading = { database: Database; clock: Clock; keptDays: number };

/** The query parameters of a search. */
export type AskedRequests = {
  from?: string | undefined;
  to?: string | undefined;
  model?: string | undefined;
  key_id?: string | undefined;
  wire?: string | undefined;
  status?: string | undefined;
  error_code?: string | undefined;
  client_request_id?: string | undefined;
  ids?: string | undefined;
};

const dayMs = 24 * 60 * 60 * 1000;
const gapsMax = 20;

/** Parses a filter, limited to the retention period. */
export async function readFilter(
  { database, clock, keptDays }: RequestReading,
  accountId: AccountId,
  asked: AskedRequests,
): Promise<RequestFilter> {
  const range = parseRange(asked, await readTimeZone(database, accountId));
  const keptFrom = findKeptFrom(clock, keptDays);
  return {
    accountId,
    from: range.from === null || range.from < keptFrom ? keptFrom : range.from,
    // The clocks of nodes differ slightly, so ids may lie in the future.
    to: range.to ?? new Date(clock.now().getTime() + dayMs),
    after: null,
    idBeginning: null,
    model: asked.model ?? null,
    keyId: asked.key_id ?? null,
    wire: asked.wire ?? null,
    status: asked.status === undefined ? null : parseStatus(asked.status),
    errorCode: asked.error_code ?? null,
    clientRequestId: asked.client_request_id ?? null,
    foreignId: null,
    ids: asked.ids === undefined ? null : asked.ids.split(",").flatMap((id) => parsePlace(id) ?? []),
  };
}

export function findKeptFrom(clock: Clock, keptDays: number): Date {
  return new Date(clock.now().getTime() - keptDays * dayMs);
}

/** `429` is one status, `5xx` a class. */
function parseStatus(text: string): { least: number; most: number } {
  if (!text.endsWith("xx")) return { least: Number(text), most: Number(text) };
  const least = Number(text.charAt(0)) * 100;
  return { least, most: least + 99 };
}

function parsePlace(id: string): RequestPlace | null {
  const createdAt = readIdTime(id);
  return createdAt === null ? null : { id, createdAt };
}

/** A page of the log, newest first, with the gaps of its period. */
export async function readRequests(
  reading: RequestReading,
  filter: RequestFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ records: ReadRequest[]; gaps: RequestGap[] }> {
  const { database } = reading;
  const place = after === null ? null : parsePlace(after);
  if (after !== null && place === null) throw createUnknownCursor();
  const records = await listRequests(database, { ...filter, after: place }, limit);
  const gaps = await listGaps(database, filter, gapsMax);
  return { records: await addTaskCharges(database, filter.accountId, records), gaps };
}

export async function getRequest(
  { database, clock, keptDays }: RequestReading,
  accountId: AccountId,
  id: string,
): Promise<ReadRequest> {
  const place = parsePlace(id);
  const isKept = place !== null && place.createdAt >= findKeptFrom(clock, keptDays);
  const record = isKept ? await findRequest(database, { accountId, ...place }) : null;
  const [found] = record === null ? [] : await addTaskCharges(database, accountId, [record]);
  if (found === undefined) {
    throw new AppError("not_found", "The account has no such request, or it has expired.", { param: "request_id" });
  }
  return found;
}

/** The newest calls by the beginning of their id or by their client's id, also those of the console. */
export async function searchRequests(
  database: Database,
  scope: { accountId: AccountId; from: Date; to: Date },
  search: { idBeginning: string } | { clientRequestId: string },
  limit: number,
): Promise<ReadRequest[]> {
  return await listRequests(database, { ...everyCall, ...scope, ...search }, limit);
}

/** A call of any account, with the fields that only operators see. Throws if it is not in the log. */
export async function showRequest(database: Database, id: string): Promise<ShownRequest> {
  const place = parsePlace(id);
  const record = place === null ? null : await findAnyRequest(database, place);
  if (record === null) {
    throw new AppError("not_found", `The request log has no ${id}: it was made without a key, or it has expired.`);
  }
  const [completed] = await addTaskCharges(database, record.accountId, [record]);
  return { ...record, ...completed };
}

/** A task is charged when it ends, long after its request. */
export async function addTaskCharges(
  database: Database,
  accountId: AccountId,
  records: readonly ReadRequest[],
): Promise<ReadRequest[]> {
  const taskIds = records.flatMap(({ taskId, chargeId }) => (taskId === null || chargeId !== null ? [] : [taskId]));
  const charges = await listTaskCharges(database, { accountId, taskIds });
  return records.map((record) => {
    const charge = record.taskId === null ? undefined : charges.get(record.taskId);
    if (charge === undefined) return record;
    // Charges paid from a quota cost no money.
    return { ...record, chargeId: charge.chargeId, charge: nano(charge.unit === "money" ? charge.paid : 0n) };
  });
}
