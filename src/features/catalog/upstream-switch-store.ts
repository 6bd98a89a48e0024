import type { Database } from "../../platform/database/database.ts";
import type { SwitchKind, SwitchMode, UpstreamSwitch } from "./upstream-switch.ts";

/** Every switch that no operator has ended, also those past their own end. */
export async function listSwitches(database: Database): Promise<UpstreamSwitch[]> {
  const rows = await database
    .selectFrom("upstream_switches")
    .select(["kind", "subject", "mode", "reason", "created_at", "created_by", "ends_at"])
    .where("ended_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    // Check constraints allow no other words.
    kind: row.kind as SwitchKind,
    subject: row.subject,
    mode: row.mode as SwitchMode,
    reason: row.reason,
    createdAt: row.created_at,
    createdBy: row.created_by,
    endsAt: row.ends_at,
  }));
}

export async function insertSwitch(tx: Database, one: UpstreamSwitch): Promise<void> {
  await tx
    .insertInto("upstream_switches")
    .values({
      ...{ kind: one.kind, subject: one.subject, mode: one.mode, reason: one.reason },
      ...{ created_at: one.createdAt, created_by: one.createdBy, ends_at: one.endsAt },
      ...{ ended_at: null, ended_by: null },
    })
    .execute();
}

/** Ends the switches of a subject. */
export async function endSwitches(
  tx: Database,
  { subject, now, actor }: { subject: string; now: Date; actor: string },
): Promise<void> {
  await tx
    .updateTable("upstream_switches")
    .set({ ended_at: now, ended_by: actor })
    .where("subject", "=", subject)
    .where("ended_at", "is", null)
    .execute();
}
