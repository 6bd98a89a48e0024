import { hash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

export const adminHitKinds = [
  ...(["account", "key", "admin_key", "task", "charge", "ledger_entry", "hold"] as const),
  ...(["payment", "file", "event", "webhook_endpoint", "request"] as const),
] as const;

export type AdminHit = {
  kind: (typeof adminHitKinds)[number];
  id: string;
  name: string;
  status: string | null;
  accountId: AccountId | null;
  email: string | null;
  /** The request that caused it. */
  requestId: string | null;
  createdAt: Date;
};

type HitRow = Omit<AdminHit, "accountId" | "requestId" | "createdAt"> & {
  account_id: AccountId | null;
  request_id: string | null;
  created_at: Date;
};

/** Reads many features' tables, each by an index, except addresses and names, which are looked through. */
export async function findAdminHits(database: Database, words: string, limit: number): Promise<AdminHit[]> {
  const selects = listSelects(words);
  if (selects.length === 0) return [];
  const all = sql.join(
    selects.map((select) => sql`(${select} limit ${limit})`),
    sql` union all `,
  );
  const { rows } = await sql<HitRow>`
    select found.kind, found.id, found.name, found.status, found.account_id, account.email, found.request_id,
        found.created_at
      from (${all}) found left join accounts account on account.id = found.account_id
      order by found.created_at desc, found.id desc limit ${limit}`.execute(database);
  return rows.map(({ account_id: accountId, request_id: requestId, created_at: createdAt, ...rest }) => ({
    ...{ ...rest, accountId, requestId, createdAt },
  }));
}

const idCharactersMin = 8;
const lastEnding = "z".repeat(26);

function listSelects(words: string): RawBuilder<unknown>[] {
  const text = words.trim();
  const lower = text.toLowerCase();
  const prefix = /^([a-z]+)_[0-9a-z.]+$/.exec(lower)?.[1];
  if (prefix !== undefined && lower.length >= prefix.length + 1 + idCharactersMin) {
    const select = selectById[prefix];
    if (select !== undefined) return [select(lower, sql`between ${lower} and ${lower + lastEnding}`)];
  }
  if (text.startsWith("sk-slc-")) return [selectKeysBy(sql`hash = ${hash("sha256", text, "buffer")}`)];
  if (text.startsWith("sk-adm-")) {
    return [
      sql`select 'admin_key' as kind, id, name, case when revoked_at is null then 'active' else 'revoked' end as status,
        null as account_id, null as request_id, created_at from admin_keys where hash = ${hash("sha256", text, "buffer")}`,
    ];
  }
  return selectByWords(text, lower);
}

const selectKeysBy = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select 'key' as kind, id, name, case when revoked_at is null then 'active' else 'revoked' end as status, account_id,
      null as request_id, created_at
    from api_keys where ${condition}`;

const selectTasksBy = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select 'task' as kind, id, model as name, state as status, account_id, request_id, created_at from tasks
    where ${condition}`;

const selectPaymentsBy = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select 'payment' as kind, id, amount_nano / 1000000000.0 || ' ' || currency as name, state as status, account_id,
      null as request_id, created_at
    from checkouts where ${condition}`;

/** By the prefix of the id. `range` is every id that begins with the words. */
const selectById: Readonly<
  Record<string, ((id: string, range: RawBuilder<unknown>) => RawBuilder<unknown>) | undefined>
> = {
  acct: (_, range) => sql`
    select 'account' as kind, id, email as name, case when suspended_at is null then 'active' else 'suspended' end
        as status, id as account_id, null as request_id, created_at
      from accounts where id ${range}`,
  user: (_, range) => sql`
    select 'account' as kind, account_id as id, email as name, null as status, account_id, null as request_id, created_at
      from users where id ${range}`,
  key: (_, range) => selectKeysBy(sql`id ${range}`),
  task: (_, range) => selectTasksBy(sql`id ${range}`),
  txn: (id, range) => sql`
    select 'charge' as kind, charge.id, coalesce(price.model_id, 'Charge') as name, null as status, charge.account_id,
        case when hold.cause_kind = 'request' then hold.cause_id else task.request_id end as request_id, charge.created_at
      from charges charge join holds hold on hold.id = charge.hold_id
        left join prices price on price.id = charge.price_id
        left join tasks task on hold.cause_kind = 'task' and task.id = hold.cause_id
      where charge.id ${range}
    union all
    select 'ledger_entry', id, min(kind), null, min(account_id), null, min(created_at) from postings
      where id ${range} and not exists (select from charges where charges.id = ${id}) group by id`,
  hold: (_, range) => sql`
    select 'hold' as kind, id, unit as name, state as status, account_id,
        case when cause_kind = 'request' then cause_id end as request_id, opened_at as created_at
      from holds where id ${range}`,
  chk: (_, range) => selectPaymentsBy(sql`id ${range}`),
  file: (_, range) => sql`
    select 'file' as kind, id, filename as name, purpose as status, account_id, null as request_id, created_at
      from files where id ${range}`,
  evt: (_, range) => sql`
    select 'event' as kind, id, type as name, null as status, account_id, null as request_id, created_at
      from events where id ${range}`,
  whe: (_, range) => sql`
    select 'webhook_endpoint' as kind, id, url as name,
        case when disabled_at is null then 'enabled' else 'disabled' end as status, account_id, null as request_id,
        created_at
      from webhook_endpoints where id ${range}`,
  // Stripe's ids keep their case; see `selectByWords`.
};

/** The newest tasks whose vendor's job id is looked through: it has no index. */
const lookedThroughMax = 20_000;

function selectByWords(text: string, lower: string): RawBuilder<unknown>[] {
  const ending = /^(?:…|\.\.\.)?([0-9A-Za-z]{4})$/.exec(text)?.[1];
  return [
    sql`select 'account' as kind, id, email as name,
        case when suspended_at is null then 'active' else 'suspended' end as status, id as account_id,
        null as request_id, created_at
      from accounts where strpos(lower(email), ${lower}) > 0 order by created_at desc`,
    sql`select 'account' as kind, account_id as id, coalesce(name, email) as name, null as status, account_id,
        null as request_id, created_at
      from users where strpos(lower(name), ${lower}) > 0 order by created_at desc`,
    selectKeysBy(sql`strpos(lower(name), ${lower}) > 0 or last_four = ${ending ?? ""}`),
    selectPaymentsBy(sql`payment_id = ${text} or session_id = ${text}`),
    selectTasksBy(sql`id in (select id from (select id, handle from tasks order by id desc limit ${lookedThroughMax})
      newest where strpos(handle::text, ${text}) > 0)`),
  ];
}
