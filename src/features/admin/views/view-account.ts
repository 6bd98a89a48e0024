import type { SiteSession } from "../../../lib/console-session.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { appendAudit } from "../../audit/index.ts";
import { findUserOfAccount } from "../../site/index.ts";
import { type AccountAction, getAccount } from "../accounts/change-account-as-operator.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import type { Acting } from "../edge/admin-caller.ts";
import { requireReason } from "../edge/reason.ts";
import {
  type EndedView,
  endDeadViews,
  endViewsOfSession,
  findOpenView,
  insertView,
  type NewView,
} from "./view-store.ts";

const viewMsMax = 30 * 60_000;

type ViewDependencies = Pick<AdminDependencies, "database" | "clock" | "ids">;

/** Opens an operator's read-only view of an account. The session's earlier view ends. */
export async function beginView(
  { database, clock, ids }: ViewDependencies,
  { accountId, acting, reason: text }: AccountAction,
  session: Pick<SiteSession, "id" | "userId">,
): Promise<NewView & { email: string }> {
  const reason = requireReason(text);
  return await inTransaction(database, async (tx) => {
    await getAccount(tx, accountId);
    const owner = await findUserOfAccount(tx, accountId);
    if (owner === null) {
      throw new AppError("invalid_parameter", "The account has no people, only keys: there is no console to see.", {
        param: "account_id",
      });
    }
    const now = clock.now();
    const replaced = await endViewsOfSession(tx, session.id, { ending: "replaced", now });
    const view: NewView = {
      ...{ id: ids.next("view"), accountId, operatorId: session.userId, sessionId: session.id, reason },
      ...{ createdAt: now, endsAt: new Date(now.getTime() + viewMsMax) },
    };
    await insertView(tx, view);
    await noteEndings(tx, replaced, acting);
    await appendAudit(tx, {
      ...{ ...acting, action: "account.view_begun", subject: view.id, accountId, reason },
      ...{ before: null, after: { ends_at: view.endsAt.toISOString() } },
    });
    return { ...view, email: owner.email };
  });
}

/** Ends the session's view, if one is open. */
export async function endView(
  { database, clock }: Pick<ViewDependencies, "database" | "clock">,
  { session, acting }: { session: Pick<SiteSession, "id">; acting: Acting },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const ended = await endViewsOfSession(tx, session.id, { ending: "ended", now: clock.now() });
    await noteEndings(tx, ended, acting);
  });
}

const sweptMax = 100;

/** Records the end of views that expired or whose operator lost access. They have shown nothing since. */
export async function sweepViews({ database, clock }: Pick<ViewDependencies, "database" | "clock">): Promise<void> {
  await inTransaction(database, async (tx) => {
    const ended = await endDeadViews(tx, clock.now(), sweptMax);
    await noteEndings(tx, ended, {
      ...{ actor: { kind: "system", id: null, name: "sluice" }, address: null, requestId: null },
    });
  });
}

async function noteEndings(tx: Database, ended: readonly EndedView[], acting: Acting): Promise<void> {
  for (const { id, accountId, operatorId, ending } of ended) {
    await appendAudit(tx, {
      ...{ ...acting, action: "account.view_ended", subject: id, accountId, reason: null },
      ...{ before: null, after: { ending, operator: operatorId } },
    });
  }
}

/** For the console: the session narrowed to what the view shows. */
export async function narrowToView(
  { database, clock }: Pick<ViewDependencies, "database" | "clock">,
  session: SiteSession,
  viewId: string,
): Promise<SiteSession | "ended" | null> {
  const found = await findOpenView(database, { viewId, sessionId: session.id, now: clock.now() });
  if (found === null) return null;
  const { owner, endsAt } = found;
  if (owner === null) return "ended";
  return {
    ...{ ...session, ...owner, view: { id: viewId, endsAt } },
    // Never: a proof of the operator's identity is not one of the customer's.
    ...{ freshUntil: session.createdAt, isTwoStep: false },
  };
}
