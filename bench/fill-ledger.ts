import type pg from "pg";

/** The number of rows, over the last thirty days. */
export type Fill = { charges: number; tasks: number; accounts: number };

const days = 30;
const portion = 100_000;
const topUpNano = 1_000_000_000_000;
/** The price of the items below: 120 tokens in and 60 out, at 150 000 and 600 000 per thousand. */
const paidNano = 54_000;

/** Ids in the gateway's format, so that their order is chronological. */
const idsStatement = `
  create function bench_time(moment timestamptz) returns text language sql immutable as $$
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
        ((floor(extract(epoch from moment) * 1000)::bigint >> (5 * place)) & 31)::integer + 1, 1), '' order by place desc)
      from generate_series(0, 9) as places (place)
  $$;`;

const accountsStatement = `
  create table bench_accounts (position integer primary key, account_id text not null);
  insert into bench_accounts select 0, id from accounts where email = 'bench@example.com';
  insert into bench_accounts
    select position, 'acct_' || bench_time(now() - interval '40 days') || lpad(position::text, 16, '0')
    from generate_series(1, $accounts) as positions (position);
  insert into accounts (id, email, created_at)
    select account_id, position || '@bench.example.com', now() - interval '40 days' from bench_accounts where position > 0;
  insert into buckets (id, account_id, kind, unit, posted, held, entry_count, is_open, opened_at)
    select 'bkt_' || substr(account_id, 6), account_id, 'cash', 'money', ${topUpNano}, 0, 1, true, now() - interval '40 days'
    from bench_accounts where position > 0;
  insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
      fingerprint, cause_kind, cause_id, created_at)
    select 'txn_' || substr(account_id, 6), 0, account_id, 'top_up', 'money', 'funding:bench', 'bkt_' || substr(account_id, 6),
      ${topUpNano}, 'bkt_' || substr(account_id, 6), 1, ${topUpNano}, 'bench', 'operator', 'act_bench', now() - interval '40 days'
    from bench_accounts where position > 0;`;

/**
 * The large account has a tenth of everything; the others share the rest. Each call has a hold, a charge and postings.
 */
const chargesStatement = `
  create temporary table calls as
    select call.*, price.id as price_id, bench_time(moment) || lpad(number::text, 16, '0') as suffix,
        bucket.id as bucket_id, bucket.posted - ${paidNano} * row_number() over entries as balance_after,
        bucket.entry_count + row_number() over entries as entry_number
      from (
        select number, account_id, now() - interval '${days} days' * (1 - number::float8 / $charges) as moment,
            'key_bench' || number / 10 % 5 as key_id
          from generate_series($from, $to) as numbers (number)
          join bench_accounts on position = case when number % 10 = 0 then 0 else 1 + number::bigint * 7919 % $accounts end
      ) call
      join buckets bucket on bucket.id = 'bkt_' || substr(call.account_id, 6)
      join (select id, row_number() over (order by id) as position, count(*) over () as count from prices) price
        on price.position = 1 + call.number / 50 % price.count
      window entries as (partition by call.account_id order by call.number);
  set session_replication_role = replica;
  insert into holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, fingerprint,
      settlement_fingerprint, key_id, cause_kind, cause_id, expires_at, opened_at, resolved_at)
    select 'hold_' || suffix, account_id, 'money', 100000, array[bucket_id], '{100000}', 'settled', ${paidNano}, suffix, suffix,
      key_id, 'request', 'req_' || suffix, moment + interval '15 minutes', moment, moment from calls order by number;
  insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after,
      fingerprint, cause_kind, cause_id, created_at)
    select 'txn_' || suffix, 0, account_id, 'charge', 'money', bucket_id, 'revenue', ${paidNano}, bucket_id, entry_number,
      balance_after, suffix, 'request', 'req_' || suffix, moment from calls order by number;
  update buckets set posted = last.balance_after, entry_count = last.entry_number
    from (select distinct on (bucket_id) bucket_id, balance_after, entry_number from calls
      order by bucket_id, entry_number desc) last
    where buckets.id = last.bucket_id;
  -- As if the gateway had checked it, minute by minute.
  update wallets set version = version + 1, changed_at = now() - interval '1 hour'
    where account_id in (select account_id from calls);
  update ledger_checks set checked_number = last.number, previous_number = last.number, checked_at = clock_timestamp()
    from (select max(number) as number from postings) last;
  reset session_replication_role;
  insert into charges (id, hold_id, account_id, key_id, unit, price_id, item_names, item_quantities, item_rates_nano, rates_per,
      minimum_nano, quota_units, paid, lost, created_at)
    select 'txn_' || suffix, 'hold_' || suffix, account_id, key_id, 'money', price_id, '{input_tokens,output_tokens}',
      '{120,60}', '{150000,600000}', 1000, 0, 180, ${paidNano}, 0, moment from calls order by number;
  drop table calls;`;

/**
 * As the gateways' job would have done. Later parts have later charges. The job writes minute by minute, so its rows are in
 * the order of their time.
 */
const rollUpStatement = `
  create temporary table mark as select max(created_at) + interval '1 ms' as moment from charges;
  select roll_up_usage(array_agg(account_id), array_agg(rolled_until), (select moment from mark)) from wallets;
  create temporary table rolled as select * from usage_rollups;
  truncate usage_rollups;
  insert into usage_rollups select * from rolled order by slot_at;
  drop table rolled;
  update wallets set rolled_until = mark.moment, books_from = mark.moment from mark;
  drop table mark;`;

/** Finished tasks, each with a prompt, an event and its delivery. */
const tasksStatement = `
  create temporary table work as
    select number, account_id, moment, bench_time(moment) || lpad(number::text, 16, '0') as suffix
      from (select number, now() - interval '${days} days' * (1 - number::float8 / $tasks) as moment
        from generate_series(1, $tasks) as numbers (number)) numbered
      join bench_accounts on position = case when number % 10 = 0 then 0 else 1 + number::bigint * 7919 % $accounts end;
  insert into tasks (id, account_id, key_id, type, model, state, phase, progress, version, request, inputs, steps, terms,
      output_ids, output, warnings, charge, units, request_id, tried, deadline_at, created_at, finished_at, updated_at)
    select 'task_' || suffix, account_id, 'key_bench0', 'image', 'picture', 'canceled', 'ended', 0, 2,
      jsonb_build_object('type', 'image', 'prompt', repeat('a picture of what was asked for, ', 15), 'width', 64, 'height', 64,
        'count', 1),
      '[]', '[]',
      '{"rate":"20","per":"1","minimum":"0","unitsMax":"1","priceId":"price_bench","counts":"images",
        "quota":{"kind":"image","unitsMax":"1"},"budgetAmount":null}',
      '{}', '[]', '[]', 0, 0, 'req_' || suffix, '[]', moment + interval '1 hour', moment, moment, moment
    from work order by number;
  insert into events (id, account_id, type, data, created_at)
    select 'evt_' || suffix, account_id, 'task.canceled', json_build_object('task_id', 'task_' || suffix), moment
    from work order by number;
  insert into deliveries (id, event_id, account_id, url, lane, state, attempt_count, created_at)
    select 'dlv_' || suffix, 'evt_' || suffix, account_id, 'https://example.com/hook', account_id, 'succeeded', 1, moment
    from work order by number;
  insert into delivery_attempts (delivery_id, number, lease_id, attempted_at, duration_ms, status)
    select 'dlv_' || suffix, 1, 'lease', moment, 20, 200 from work order by number;
  drop table work;`;

/** Writes accounts and tasks, valid in every row, directly to the database. */
export async function fillAccounts(client: pg.Client, fill: Fill): Promise<void> {
  await client.query(idsStatement);
  await client.query(name(accountsStatement, fill));
  await client.query(name(tasksStatement, fill));
}

/** Writes the calls of a fraction of the time range, from 0 to 1. */
export async function fillCharges(client: pg.Client, fill: Fill, part: { from: number; to: number }): Promise<void> {
  const [first, last] = [Math.floor(fill.charges * part.from) + 1, Math.floor(fill.charges * part.to)];
  for (let from = first; from <= last; from += portion) {
    await client.query(name(chargesStatement, { ...fill, from, to: Math.min(last, from + portion - 1) }));
  }
  await client.query(rollUpStatement);
  await client.query("vacuum analyze");
  await client.query("checkpoint");
}

/** Substitutes numbers of our own: multiple statements in one query take no parameters. */
function name(statement: string, values: Readonly<Record<string, number>>): string {
  return statement.replaceAll(/\$([a-z]+)/g, (word, key: string) => String(values[key] ?? word));
}
