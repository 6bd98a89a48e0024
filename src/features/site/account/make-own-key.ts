import type { SiteSession } from "../../../lib/console-session.ts";
import { invariant } from "../../../lib/invariant.ts";
import { presentMoney } from "../../../lib/money.ts";
import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { requireFresh } from "../../../platform/http/console-edge.ts";
import {
  type ApiKey,
  changeOwnKey,
  createOwnKey,
  findAccount,
  getOwnKey,
  type KeyRestrictions,
  type OwnKeyChange,
  revokeOwnKey,
  rotateOwnKey,
} from "../../accounts/index.ts";
import { appendOwnAction } from "../../audit/index.ts";
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
    inTransaction(dependencies.database, async (tx) => {
      const created = await createOwnKey({ ...dependencies, database: tx, hasModel }, { ...request, accountId });
      const { apiKey } = created;
      await appendOwnAction(tx, session, { action: "key.created", subject: apiKey.id, after: describeTerms(apiKey) });
      return created;
    }),
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
    inTransaction(dependencies.database, async (tx) => {
      const within = { ...dependencies, database: tx };
      const rotated = await rotateOwnKey(within, { accountId, id }, { overlapMs: overlapMinutes * minuteMs });
      const after = { replaced_by: rotated.apiKey.id, overlap_minutes: overlapMinutes };
      await appendOwnAction(tx, session, { action: "key.rotated", subject: id, after });
      return rotated;
    }),
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
  const changed = await inTransaction(dependencies.database, async (tx) => {
    const before = describeTerms(await getOwnKey(tx, { accountId, id }));
    const apiKey = await changeOwnKey(
      { ...dependencies, database: tx, hasModel, permitWidening },
      { accountId, id },
      change,
    );
    await appendOwnAction(tx, session, { action: "key.changed", subject: id, before, after: describeTerms(apiKey) });
    return apiKey;
  });
  if (change.logsContent !== undefined) {
    const fields = { account_id: accountId, user_id: userId, key_id: id, content_log: changed.logsContent };
    dependencies.logger.info(fields, "content log of an API key changed");
  }
  return changed;
}

/** Ends the key for good. */
export async function endOwnKey(dependencies: OwnKeyDependencies, session: SiteSession, id: string): Promise<ApiKey> {
  const { accountId, userId } = session;
  const revoked = await inTransaction(dependencies.database, async (tx) => {
    const { name, revokedAt } = await getOwnKey(tx, { accountId, id });
    const apiKey = await revokeOwnKey({ ...dependencies, database: tx }, { accountId, id });
    if (revokedAt === null) {
      await appendOwnAction(tx, session, { action: "key.revoked", subject: id, before: { name } });
    }
    return apiKey;
  });
  dependencies.logger.info({ account_id: accountId, user_id: userId, key_id: revoked.id }, "API key revoked");
  return revoked;
}

/** What a key may do, for the audit log. */
function describeTerms(key: ApiKey) {
  const { name, expiresAt, modelIds, endpoints, addresses, budget, limits, logsContent } = key;
  return {
    ...{ name, models: modelIds, endpoints, addresses, limits, content_log: logsContent },
    expires_at: expiresAt?.toISOString() ?? null,
    budget: budget === null ? null : `${presentMoney(budget.amount)} per ${budget.period}`,
  };
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
