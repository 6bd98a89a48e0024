import type { AccountId } from "../../lib/ids.ts";
import { type BlockRecord, hasForeignId } from "./request-block.ts";

/** A call's id and the time that it contains. */
export type RequestPlace = { id: string; createdAt: Date };

/** A filter of requests; `null` matches everything. */
export type RequestFilter = {
  accountId: AccountId;
  from: Date;
  to: Date;
  /** Only calls that are older than this one. */
  after: RequestPlace | null;
  model: string | null;
  keyId: string | null;
  wire: string | null;
  /** An inclusive range of statuses. */
  status: { least: number; most: number } | null;
  errorCode: string | null;
  clientRequestId: string | null;
  /** The client's id, or one that an upstream gave the call. For operators only. */
  foreignId: string | null;
  ids: readonly RequestPlace[] | null;
  /** The beginning of ids. `from` and `to` must contain their times. */
  idBeginning: string | null;
};

/** The filter that every call of an account matches. */
export const everyCall: Omit<RequestFilter, "accountId"> = {
  ...{ from: new Date(0), to: new Date("9999-01-01"), after: null, model: null, keyId: null, wire: null },
  ...{ status: null, errorCode: null, clientRequestId: null, foreignId: null, ids: null, idBeginning: null },
};

type FilteredColumn =
  | ("id" | "createdAt" | "keyId" | "wire" | "route" | "model")
  | ("status" | "errorCode" | "clientRequestId" | "upstreamRequestId" | "failedAttempts" | "isAmendment");

/** The columns that `matches` reads for this filter. Others may be missing. */
export function listFilteredColumns(filter: RequestFilter): FilteredColumn[] {
  const { after, model, keyId, wire, status, errorCode, clientRequestId, foreignId, ids, idBeginning } = filter;
  const needs: Record<FilteredColumn, boolean> = {
    ...{ createdAt: true, isAmendment: true },
    id: after !== null || ids !== null || idBeginning !== null,
    route: keyId === null && ids === null && idBeginning === null,
    ...{ model: model !== null, keyId: keyId !== null, wire: wire !== null, status: status !== null },
    errorCode: errorCode !== null,
    clientRequestId: clientRequestId !== null || foreignId !== null,
    ...{ upstreamRequestId: foreignId !== null, failedAttempts: foreignId !== null },
  };
  return (Object.keys(needs) as FilteredColumn[]).filter((name) => needs[name]);
}

export function matches(filter: RequestFilter, record: Pick<BlockRecord, FilteredColumn>): boolean {
  const { from, to, after, model, keyId, wire, status, errorCode, clientRequestId, foreignId, ids, idBeginning } =
    filter;
  const { createdAt } = record;
  if (createdAt < from || createdAt >= to) return false;
  if (after !== null && !isOlder(record, after)) return false;
  if (model !== null && record.model !== model) return false;
  if (keyId !== null && record.keyId !== keyId) return false;
  if (wire !== null && record.wire !== wire) return false;
  if (status !== null && (record.status < status.least || record.status > status.most)) return false;
  if (errorCode !== null && record.errorCode !== errorCode) return false;
  if (clientRequestId !== null && record.clientRequestId !== clientRequestId) return false;
  if (foreignId !== null && !hasForeignId(record, foreignId)) return false;
  if (ids !== null) return ids.some(({ id }) => id === record.id);
  if (idBeginning !== null) return record.id.startsWith(idBeginning);
  // Only a filter by its key or by ids finds the console's calls: the account's programs did not make them.
  return keyId !== null || record.route === null || !record.route.startsWith("/console/");
}

/** Whether a call comes after another in a list, which is newest first. */
export function isOlder(record: RequestPlace, other: RequestPlace): boolean {
  const differenceMs = record.createdAt.getTime() - other.createdAt.getTime();
  return differenceMs === 0 ? record.id < other.id : differenceMs < 0;
}
