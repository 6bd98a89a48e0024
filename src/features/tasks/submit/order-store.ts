import { sql } from "kysely";
import type { AccountId, TaskId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";

/** A `client_business_id`, the scope in which it is unique, and the request's fingerprint. */
export type TaskOrder = { clientBusinessId: string; scope: string; fingerprint: Buffer };

export type OwnedOrder = TaskOrder & { accountId: AccountId; taskId: TaskId };

/**
 * Claims `client_business_id`s that have no task yet, or one that failed, was canceled or expired. Returns the tasks
 * whose
 * claims succeeded. Rows are locked in key order to prevent deadlocks.
 */
export async function claimOrders(tx: Database, orders: readonly OwnedOrder[]): Promise<Set<TaskId>> {
  const { rows } = await sql<{ task_id: TaskId }>`
    insert into task_orders as old (account_id, client_business_id, scope, fingerprint, task_id)
      select * from unnest(
        ${orders.map(({ accountId }) => accountId)}::text[],
        ${orders.map(({ clientBusinessId }) => clientBusinessId)}::text[],
        ${orders.map(({ scope }) => scope)}::text[],
        ${orders.map(({ fingerprint }) => fingerprint)}::bytea[],
        ${orders.map(({ taskId }) => taskId)}::text[]
      ) as new (account_id, client_business_id, scope, fingerprint, task_id)
      order by 1, 2, 3
      on conflict on constraint task_orders_id_unique do update
        set fingerprint = excluded.fingerprint, task_id = excluded.task_id
        where exists (
          select from tasks where tasks.id = old.task_id and tasks.state in ('failed', 'canceled', 'expired')
        )
      returning task_id`.execute(tx);
  return new Set(rows.map((row) => row.task_id));
}

/** Releases claims whose tasks are not created after all, in the same transaction. */
export async function withdrawOrders(tx: Database, orders: readonly OwnedOrder[]): Promise<void> {
  if (orders.length === 0) return;
  await sql`
    delete from task_orders as old using unnest(
        ${orders.map(({ accountId }) => accountId)}::text[],
        ${orders.map(({ clientBusinessId }) => clientBusinessId)}::text[],
        ${orders.map(({ scope }) => scope)}::text[]
      ) as taken (account_id, client_business_id, scope)
      where (old.account_id, old.client_business_id, old.scope)
        = (taken.account_id, taken.client_business_id, taken.scope)`.execute(tx);
}

export async function findOrder(
  database: Database,
  { accountId, clientBusinessId, scope }: Omit<OwnedOrder, "fingerprint" | "taskId">,
): Promise<{ taskId: TaskId; fingerprint: Buffer } | null> {
  const row = await database
    .selectFrom("task_orders")
    .select(["task_id", "fingerprint"])
    .where("account_id", "=", accountId)
    .where("client_business_id", "=", clientBusinessId)
    .where("scope", "=", scope)
    .executeTakeFirst();
  return row === undefined ? null : { taskId: row.task_id as TaskId, fingerprint: row.fingerprint };
}

/** Finds the task of an identical request under the same id, in any scope. */
export async function findSameOrder(
  database: Database,
  { accountId, clientBusinessId, fingerprint }: Omit<OwnedOrder, "scope" | "taskId">,
): Promise<TaskId | null> {
  const row = await database
    .selectFrom("task_orders")
    .select("task_id")
    .where("account_id", "=", accountId)
    .where("client_business_id", "=", clientBusinessId)
    .where("fingerprint", "=", fingerprint)
    .executeTakeFirst();
  return row === undefined ? null : (row.task_id as TaskId);
}
