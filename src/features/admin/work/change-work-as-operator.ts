import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { getTask, retryTask, type Task } from "../../tasks/index.ts";
import { findEventOwner, resendEvent } from "../../webhooks/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { Acting } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";

type Explained = { id: string; acting: Acting; reason: string };

/** Cancels a task by the rules of its owner: a task that no upstream has started ends at once, another when it has stopped. */
export async function cancelTaskAsOperator(
  { cancelTask }: Pick<AdminDependencies, "cancelTask">,
  { id, acting, reason: text }: Explained,
): Promise<Task> {
  const reason = requireReason(text);
  return await cancelTask({
    id,
    record: (tx, { accountId, state }) =>
      appendAudit(tx, {
        ...{ ...acting, action: "task.canceled", subject: id, accountId, reason },
        ...{ before: null, after: { state } },
      }),
  });
}

/** Makes an open task due at once, or creates a new task from an ended one. */
export async function retryTaskAsOperator(
  { database, clock, ids, currency }: Pick<AdminDependencies, "database" | "clock" | "ids" | "currency">,
  { id, acting, reason: text }: Explained,
): Promise<Awaited<ReturnType<typeof retryTask>>> {
  const reason = requireReason(text);
  const { accountId, state } = await getTask(database, { id });
  return await retryTask({ database, clock, ids, currency }, id, (tx: Database, kind) =>
    appendAudit(tx, {
      ...{ ...acting, action: kind === "woken" ? "task.woken" : "task.recreated", subject: id, accountId, reason },
      ...{ before: { state }, after: null },
    }),
  );
}

/** Delivers an event again to all of its receivers that still exist. */
export async function resendEventAsOperator(
  { database, clock, ids }: Pick<AdminDependencies, "database" | "clock" | "ids">,
  { id, acting, reason: text }: Explained,
): Promise<void> {
  const reason = requireReason(text);
  await inTransaction(database, async (tx) => {
    const accountId = await findEventOwner(tx, id);
    if (accountId === null) throw new AppError("not_found", "There is no such event.", { param: "event_id" });
    await resendEvent({ database: tx, clock, ids }, { accountId, eventId: id, endpointId: null });
    await appendAudit(tx, {
      ...{ ...acting, action: "event.resent", subject: id, accountId, reason },
      ...{ before: null, after: null },
    });
  });
}

/** Deletes expired files now. The job that does so every minute leaves no audit entry; an operator's request does. */
export async function purgeAsOperator(
  { database, purgeFiles }: Pick<AdminDependencies, "database" | "purgeFiles">,
  { acting, reason: text }: Omit<Explained, "id">,
): Promise<{ files: number; removedBytes: number }> {
  const reason = requireReason(text);
  const purged = await purgeFiles();
  await inTransaction(database, (tx) =>
    appendAudit(tx, {
      ...{ ...acting, action: "files.purged", subject: null, accountId: null, reason },
      ...{ before: null, after: { files: purged.files, stored: purged.removedBytes } },
    }),
  );
  return purged;
}
