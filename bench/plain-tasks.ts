import pg from "pg";
import type { ServerAddress } from "../src/platform/database/database-address.ts";

export type PlainTasks = {
  /** The minimum of a durable submission: the same rows, in one statement and one commit. */
  submit(id: string): Promise<void>;
  /** The minimum of a durable end of a task. */
  finish(id: string): Promise<void>;
  close(): Promise<void>;
};

const walletsCount = 1;

/** Tables like ours, on the same server, written by plain functions: PostgreSQL's own cost. */
export async function openPlainTasks(address: ServerAddress, connections: number): Promise<PlainTasks> {
  const pool = new pg.Pool({ ...address, max: connections });
  await pool.query(`
    create table plain_wallets (id int primary key, held bigint not null, posted bigint not null) with (fillfactor = 50);
    insert into plain_wallets select id, 0, 0 from generate_series(0, ${walletsCount - 1}) as ids (id);
    create table plain_holds (like holds including all);
    create table plain_tasks (like tasks including all);
    create table plain_leases (like task_leases including all);
    create table plain_keys (like idempotency_keys including all);
    create table plain_jobs (id uuid primary key default gen_random_uuid(), data jsonb, created_at timestamptz default now());
    create table plain_postings (id text primary key, amount bigint not null, created_at timestamptz default now());
    create table plain_events (id text primary key, data jsonb not null, created_at timestamptz default now());
    create function plain_submit(task text, wallet int) returns void language plpgsql as $$
    begin
      insert into plain_keys (account_id, key, fingerprint, request_id, state, lease_until, status, content_type, body, summary, created_at, expires_at)
        values ('acct_x', task, '\\x00', task, 'finished', now(), 202, 'x', '\\x00', 'x', now(), now() + interval '1 day');
      update plain_wallets set held = held + 20 where id = wallet;
      insert into plain_holds (id, account_id, unit, amount, bucket_ids, bucket_amounts, state, settled, fingerprint, cause_kind, cause_id, expires_at, opened_at)
        values ('hold_' || task, 'acct_x', 'money', 20, '{bkt_x}', '{20}', 'open', 0, task, 'task', task, now() + interval '1 hour', now());
      insert into plain_tasks (id, account_id, key_id, type, model, state, phase, progress, version, request, inputs, steps, terms, hold_id, output_ids, output, warnings, charge, units, request_id, tried, deadline_at, created_at, updated_at)
        values ('task_' || task, 'acct_x', 'key_x', 'image', 'picture', 'queued', 'ready', 0, 1,
          '{"type":"image","prompt":"a picture","width":64,"height":64,"count":1}', '[]', '[]', '{"rate":"20","per":"1"}', 'hold_' || task, '{file_x}', '[]', '[]', 0, 0, 'req_x', '[]', now() + interval '1 hour', now(), now());
      insert into plain_leases (task_id, next_poll_at, fencing_token, polls) values ('task_' || task, now(), 0, 0);
      insert into plain_jobs (data) values (jsonb_build_object('taskIds', jsonb_build_array(task)));
    end $$;
    create function plain_finish(task text, wallet int) returns void language plpgsql as $$
    begin
      delete from plain_leases where task_id = 'task_' || task;
      update plain_wallets set held = held - 20, posted = posted + 20 where id = wallet;
      update plain_holds set state = 'settled', settled = 20, settlement_fingerprint = task, resolved_at = now() where id = 'hold_' || task;
      insert into plain_postings (id, amount) values (task, 20);
      update plain_tasks set state = 'succeeded', phase = 'ended', progress = 100, finished_at = now(), version = 2,
        output = '[{"type":"image"}]' where id = 'task_' || task;
      insert into plain_events (id, data) values (task, '{"task_id":"task"}');
    end $$;`);
  return {
    submit: async (id) => void (await pool.query({ name: "submit", text: "select plain_submit($1, 0)", values: [id] })),
    finish: async (id) => void (await pool.query({ name: "finish", text: "select plain_finish($1, 0)", values: [id] })),
    close: () => pool.end(),
  };
}
