import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import type { Database } from "../../../src/platform/database/database.ts";

/** Invariants of all tasks: each query lists the violations. */
const statements = {
  "an open task has a lease":
    "select id from tasks where phase <> 'ended' and not exists (select 1 from task_leases where task_id = tasks.id)",
  "a final task has no lease": "select id from tasks join task_leases on task_id = id where phase = 'ended'",
  "a lease has a task":
    "select task_id as id from task_leases where not exists (select 1 from tasks where id = task_id)",
  "an open task has an open hold": `
    select tasks.id from tasks left join holds on holds.id = tasks.hold_id
      where phase <> 'ended' and hold_id is not null and holds.state is distinct from 'open'`,
  "a final task's hold is settled or released": `
    select tasks.id from tasks left join holds on holds.id = tasks.hold_id
      where phase = 'ended' and hold_id is not null
        and (holds.state is null or holds.state not in ('settled', 'released'))`,
  "a success is paid for": `
    select tasks.id from tasks join holds on holds.id = tasks.hold_id
      where tasks.state = 'succeeded' and holds.state <> 'settled'`,
  "a hold for a task has one": `
    select holds.id from holds left join tasks on tasks.hold_id = holds.id
      where cause_kind = 'task' and holds.state in ('open', 'settled') and tasks.id is null`,
  "a task is charged once, for what it made": `
    select tasks.id from tasks
      left join lateral (select count(*) as count, sum(paid) as paid from charges
        where charges.hold_id = tasks.hold_id and charges.unit = 'money') as charged on true
      where charged.count > 1 or coalesce(charged.paid, 0) <> tasks.charge`,
  "only what was made is charged": `
    select id from tasks where (charge <> 0 or units <> 0)
      and (state = 'expired' or (state = 'failed' and (jsonb_array_length(steps) = 0 or jsonb_array_length(output) = 0)))`,
  "what another task needed is paid and told with that": `
    select id from tasks where parent_id is not null and (hold_id is not null or charge <> 0 or callback_url is not null)`,
  "what a final task needed is not wanted any more": `
    select child.id from tasks as child join tasks as parent on parent.id = child.parent_id
      where parent.phase = 'ended' and child.phase <> 'ended' and child.cancel_requested_at is null`,
  "a task that another one needed is needed for one thing": `
    select parent.id from tasks as parent, lateral (
        select count(*) as named, count(distinct id) as different
          from jsonb_array_elements(parent.steps) as step, jsonb_each_text(step -> 'taskIds') as one (purpose, id)
      ) as counted
      where different <> named
        or named <> (select count(*) from tasks as child where child.parent_id = parent.id)`,
  "open tasks are counted": `
    with counted as (
      select owner, count(*)::int as open from tasks, unnest(array[account_id, key_id]) as owner
        where phase <> 'ended' and parent_id is null group by owner
    )
    select coalesce(owner, owner_id) as id from counted full join task_counts on owner = owner_id
      where coalesce(open, 0) <> coalesce(open_tasks, 0)`,
  "a final task is told of once, as what it is": `
    select tasks.id from tasks
      left join lateral (select count(*) as count, min(type) as type from events
        where events.data ->> 'task_id' = tasks.id) as told on true
      where case when phase = 'ended' and parent_id is null
        then told.count <> 1 or told.type <> 'task.' || state else told.count > 0 end`,
  "progress is 100 only on success": "select id from tasks where (progress = 100) <> (state = 'succeeded')",
  "a success has outputs": "select id from tasks where state = 'succeeded' and jsonb_array_length(output) = 0",
  "an output is a file of the account": `
    select tasks.id from tasks, jsonb_array_elements(output) as item
      left join files on files.id = item ->> 'fileId'
      where files.id is null or files.account_id <> tasks.account_id or files.bytes <> (item ->> 'bytes')::bigint`,
};

/** All violations of tasks and their money, as sentences. */
export async function findTaskViolations(database: Database): Promise<string[]> {
  const violations: string[] = [];
  for (const [name, statement] of Object.entries(statements)) {
    const { rows } = await sql.raw<{ id: string }>(statement).execute(database);
    violations.push(...rows.map(({ id }) => `${name}, but not ${id}`));
  }
  return violations;
}

/** All files without bytes, as sentences. Needs a database without a transaction: bytes are deleted after their row. */
export async function findFileViolations(database: Database, dataDir: string | null): Promise<string[]> {
  if (dataDir === null) return [];
  const select = () => database.selectFrom("files").select(["id", "storage_key"]);
  const suspects = (await select().execute()).filter(
    ({ storage_key }) => !existsSync(join(dataDir, "files", storage_key)),
  );
  if (suspects.length === 0) return [];
  const ids = suspects.map(({ id }) => id);
  const kept = await select().where("id", "in", ids).execute();
  return kept.map(({ id }) => `a file has bytes, but not ${id}`);
}
