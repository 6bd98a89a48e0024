import type { SiteSession } from "../../../lib/console-session.ts";
import { invariant } from "../../../lib/invariant.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { requireFresh } from "../../../platform/http/console-edge.ts";
import {
  changeOwnKey,
  createOwnKey,
  findAccount,
  type KeyRestrictions,
  type OwnKeyChange,
  rotateOwnKey,
} from "../../accounts/index.ts";
import { findOfferedModel, type LiveCatalog } from "../../catalog/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";

const dayMs = 24 * 60 * 60_000;
const minuteMs = 60_000;
/** Ended keys stay stored, so their number is bounded. */
const newKeysMax = 200;

export type OwnKeyDependencies = SiteDependencies & {
  catalog: Pick<LiveCatalog, "current">;
  /** Retention of logged contents; 0 disables the content log. */
  contentDays: number;
};

/** Requires reauthentication: a key outlives the session, so an unattended browser must not yield one. */
export async function makeOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  request: { name: string; logsContent?: boolean } & Partial<KeyRestrictions>,
) {
  requireFresh(session, dependencies.clock.now());
  requireContentLog(dependencies, request);
  const { accountId, userId } = session;
  const hasModel = await listKeyModels(dependencies, session);
  const made = await countNewKey(dependencies, accountId, () =>
    createOwnKey({ ...dependencies, hasModel }, { ...request, accountId }),
  );
  dependencies.logger.info({ account_id: accountId, user_id: userId, key_id: made.apiKey.id }, "API key created");
  return made;
}

export async function replaceOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  { id, overlapMinutes }: { id: string; overlapMinutes: number },
) {
  requireFresh(session, dependencies.clock.now());
  const { accountId, userId } = session;
  const made = await countNewKey(dependencies, accountId, () =>
    rotateOwnKey(dependencies, { accountId, id }, { overlapMs: overlapMinutes * minuteMs }),
  );
  const fields = { account_id: accountId, user_id: userId, key_id: made.apiKey.id, replaced_key_id: id };
  dependencies.logger.info(fields, "API key rotated");
  return made;
}

/** Extending a key's access requires the same reauthentication as a new key. */
export async function editOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  id: string,
  change: OwnKeyChange,
) {
  const { accountId, userId } = session;
  requireContentLog(dependencies, change);
  const hasModel = await listKeyModels(dependencies, session);
  const permitWidening = (): void => requireFresh(session, dependencies.clock.now());
  const changed = await changeOwnKey({ ...dependencies, hasModel, permitWidening }, { accountId, id }, change);
  if (change.logsContent !== undefined) {
    const fields = { account_id: accountId, user_id: userId, key_id: id, content_log: changed.logsContent };
    dependencies.logger.info(fields, "content log of an API key changed");
  }
  return changed;
}

function requireContentLog(
  { contentDays }: OwnKeyDependencies,
  { logsContent = false }: { logsContent?: boolean },
): void {
  if (!logsContent || contentDays > 0) return;
  throw new AppError("invalid_parameter", "This service stores no request contents. Leave `content_log` off.", {
    param: "content_log",
  });
}

/** A key can be restricted to models of its account. Others are reported as unknown. */
async function listKeyModels({ database, catalog, clock }: OwnKeyDependencies, { accountId }: SiteSession) {
  const account = await findAccount(database, accountId);
  invariant(account !== null, `a session is of the account ${accountId}, which does not exist`);
  const audience = { accountId, planId: account.planId, modelIds: null };
  const view = catalog.current();
  return (modelId: string): boolean => findOfferedModel(view, modelId, audience, clock.now()).kind === "offered";
}

/** Counts only created keys: an invalid form may be resent. */
async function countNewKey<T>(
  { beginAttempt }: SiteDependencies,
  accountId: string,
  make: () => Promise<T>,
): Promise<T> {
  const attempt = await beginAttempt([{ key: `new-key:${accountId}`, max: newKeysMax, withinMs: dayMs }]);
  try {
    return await make();
  } catch (error) {
    await attempt.succeed();
    throw error;
  }
}
