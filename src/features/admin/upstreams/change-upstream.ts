import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { listActiveSwitches, type SwitchMode, switchOff, switchOn } from "../../catalog/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, nameActor } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";

type SwitchRequest = {
  subject: string;
  mode: SwitchMode | "enabled";
  endsAt: Date | null;
  reason: string;
  acting: Acting;
};

/** Disables, drains or enables a provider, a route or a key. Returns the models without another route. */
export async function switchUpstreamAsOperator(
  { database, clock }: Pick<AdminDependencies, "database" | "clock">,
  { subject, mode, endsAt, reason: text, acting }: SwitchRequest,
): Promise<string[]> {
  const reason = requireReason(text);
  if (endsAt !== null && (mode === "enabled" || endsAt <= clock.now())) {
    const message =
      mode === "enabled" ? "Only a disabled or draining upstream has an end." : "The end must be in the future.";
    throw new AppError("invalid_parameter", message, { param: "ends_at" });
  }
  return await inTransaction(database, async (tx) => {
    const within = { database: tx, clock };
    const before = (await listActiveSwitches(within)).find((one) => one.subject === subject);
    const actor = nameActor(acting.actor);
    const stranded =
      mode === "enabled"
        ? await switchOn(within, { subject, actor }).then(() => [])
        : (await switchOff(within, { subject, mode, reason, actor, endsAt })).strandedModels;
    await appendAudit(tx, {
      ...{ ...acting, action: `upstream.${mode}`, subject, accountId: null, reason },
      before: { mode: before?.mode ?? "enabled" },
      after: { mode, ends_at: endsAt?.toISOString() ?? null },
    });
    return stranded;
  });
}
