import { type RawBuilder, sql } from "kysely";
import { type AccountId, presentLeastId, readIdTime } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { searchRequests } from "../requests/index.ts";
import type { Search, SearchPrefix } from "./parse-search.ts";

export const searchKinds = [
  ...(["request", "task", "charge", "ledger_entry"] as const),
  ...(["key", "file", "event", "webhook_endpoint"] as const),
] as const;

export type SearchHit = {
  kind: (typeof searchKinds)[number];
  id: string;
  /** A name, model, type or URL. */
  name: string;
  status: string | null;
  /** The task that created the object, or that the event is about. */
  taskId: string | null;
  createdAt: Date;
};

type SearchScope = {
  accountId: AccountId;
  now: Date;
  /** The start of the retention period; older requests may still exist. */
  requestsFrom: Date;
  limit: number;
};

type HitRow = { kind: SearchHit["kind"]; id: string; name: string; status: string | null; task_id: string | null };

/** Newest first. Reads the tables of the features below, and the request log through its door: its blocks are not tables. */
export async function findHits(database: Database, search: Search, scope: SearchScope): Promise<SearchHit[]> {
  if (search.kind === "id") {
    const { prefix, beginning } = search;
    if (prefix === "req") return await findRequests(database, beginning, scope);
    return await readHits(database, selectById[prefix](beginning, scope), scope);
  }
  const [requests, others] = [
    await findRequestsOfClient(database, search.text, scope),
    await readHits(database, selectByWords(search, scope), scope),
  ];
  return [...requests, ...others].toSorted(compareHits).slice(0, scope.limit);
}

function compareHits(a: SearchHit, b: SearchHit): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}

async function readHits(database: Database, select: RawBuilder<unknown>, { limit }: SearchScope): Promise<SearchHit[]> {
  const { rows } = await sql<HitRow & { created_at: Date }>`
    select kind, id, name, status, task_id, created_at from (${select}) hits
      order by created_at desc, id desc limit ${limit}`.execute(database);
  return rows.map(({ task_id: taskId, created_at: createdAt, ...rest }) => ({ ...rest, taskId, createdAt }));
}

/** The id starts with the time. */
async function findRequests(database: Database, beginning: string, scope: SearchScope): Promise<SearchHit[]> {
  const [first, last] = [findMoment(beginning, "first"), findMoment(beginning, "last")];
  const from = first < scope.requestsFrom ? scope.requestsFrom : first;
  const period = { accountId: scope.accountId, from, to: new Date(last.getTime() + 1) };
  return (await searchRequests(database, period, { idBeginning: beginning }, scope.limit)).map(toHit);
}

async function findRequestsOfClient(database: Database, text: string, scope: SearchScope): Promise<SearchHit[]> {
  const { accountId, requestsFrom: from, now, limit } = scope;
  const period = { accountId, from, to: new Date(now.getTime() + clockMarginMs) };
  return (await searchRequests(database, period, { clientRequestId: text }, limit)).map(toHit);
}

/** The clocks of nodes differ slightly, so ids may lie in the future. */
const clockMarginMs = 60_000;

function toHit({ id, model, method, route, status, taskId, createdAt }: FoundRequest): SearchHit {
  const name = model ?? `${method} ${route ?? "unknown path"}`;
  return { kind: "request", id, name, status: String(status), taskId, createdAt };
}

type FoundRequest = Awaited<ReturnType<typeof searchRequests>>[number];

type SelectHits = (beginning: string, scope: SearchScope) => RawBuilder<unknown>;

const idCharacters = 26;
/** Sorts after every id with the same beginning. */
const lastEnding = "z".repeat(idCharacters);

const begins = (column: RawBuilder<unknown>, beginning: string): RawBuilder<unknown> =>
  sql`${column} between ${beginning} and ${beginning + lastEnding}`;

const selectKeys = ({ now }: SearchScope) => sql`
  select 'key' as kind, id, name, null as task_id, created_at,
      case when revoked_at is null and coalesce(expires_at > ${now}, true) then 'live' else 'ended' end as status
    from api_keys`;

const selectEndpoints = sql`
  select 'webhook_endpoint' as kind, id, url as name, null as task_id, created_at,
      case when disabled_at is null then 'enabled' else 'disabled' end as status
    from webhook_endpoints`;

const selectById: Record<Exclude<SearchPrefix, "req">, SelectHits> = {
  task: (beginning, { accountId }) => sql`
    select 'task' as kind, id, model as name, state as status, id as task_id, created_at from tasks
      where account_id = ${accountId} and ${begins(sql`id`, beginning)}`,
  txn: (beginning, { accountId }) => sql`
    select 'charge' as kind, charge.id, coalesce(price.model_id, 'Charge') as name, null as status, null as task_id,
        charge.created_at
      from charges charge left join prices price on price.id = charge.price_id
      where charge.account_id = ${accountId} and ${begins(sql`charge.id`, beginning)}
    union all
    select 'ledger_entry', id, min(kind), null, null, min(created_at) from postings
      where account_id = ${accountId} and ${begins(sql`id`, beginning)}
        and not exists (select from charges where charges.id = postings.id)
      group by id`,
  key: (beginning, scope) => sql`
    ${selectKeys(scope)} where account_id = ${scope.accountId} and ${begins(sql`id`, beginning)}`,
  file: (beginning, { accountId, now }) => sql`
    select 'file' as kind, file.id, file.filename as name, file.purpose as status, file.created_at, (
        select id from tasks
          where account_id = file.account_id and id between ${findTaskId(beginning, "first")}
            and ${findTaskId(beginning, "last")} and file.id = any(output_ids)) as task_id
      from files file
      where file.account_id = ${accountId} and file.expires_at > ${now} and ${begins(sql`file.id`, beginning)}`,
  evt: (beginning, { accountId }) => sql`
    select 'event' as kind, id, type as name, null as status, data ->> 'task_id' as task_id, created_at from events
      where account_id = ${accountId} and ${begins(sql`id`, beginning)}`,
  whe: (beginning, { accountId }) => sql`
    ${selectEndpoints} where account_id = ${accountId} and ${begins(sql`id`, beginning)}`,
};

/** The times of the first and last id with this beginning. */
function findMoment(beginning: string, end: "first" | "last"): Date {
  const length = beginning.indexOf("_") + 1 + idCharacters;
  return readIdTime(beginning.padEnd(length, end === "first" ? "0" : "z")) ?? new Date(0);
}

const taskMarginMs = 1000;

/** Output ids are created together with their task's id, so the task's id lies within the same second. */
function findTaskId(fileBeginning: string, end: "first" | "last"): string {
  const momentMs = findMoment(fileBeginning, end).getTime();
  const marginMs = end === "first" ? -taskMarginMs : taskMarginMs;
  return presentLeastId("task", new Date(Math.max(0, momentMs + marginMs)));
}

/** How many of the newest objects of each kind a word search reads: their names have no index. */
const lookedThroughMax = 2_000;

/** The length of a prompt in the results. */
const promptCharactersMax = 200;

function selectByWords({ words }: { words: string }, scope: SearchScope): RawBuilder<unknown> {
  const { accountId, now, limit } = scope;
  const contains = sql`strpos(lower(name), ${words}) > 0 order by created_at desc, id desc limit ${limit}`;
  const newest = sql`where account_id = ${accountId} order by id desc limit ${lookedThroughMax}`;
  const newestTasks = sql`
    where account_id = ${accountId} and parent_id is null order by id desc limit ${lookedThroughMax}`;
  return sql`
    (select kind, id, name, status, task_id, created_at from (${selectKeys(scope)} ${newest}) keys where ${contains})
    union all
    (select kind, id, name, status, task_id, created_at from (${selectEndpoints} ${newest}) endpoints where ${contains})
    union all
    (select kind, id, left(name, ${promptCharactersMax}) as name, status, task_id, created_at from (
      select 'task' as kind, id, state as status, id as task_id, created_at, coalesce(request ->> 'prompt',
          request ->> 'title', request ->> 'text', request #>> '{source,text}', model) as name
        from tasks ${newestTasks}) tasks where ${contains})
    union all
    (select kind, id, name, status, task_id, created_at from (
      select 'file' as kind, id, filename as name, purpose as status, null as task_id, created_at, expires_at from files
        ${newest}) files where expires_at > ${now} and status <> 'output' and ${contains})`;
}
