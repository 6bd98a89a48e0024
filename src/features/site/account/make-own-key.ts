import { invariant } from "../../../lib/invariant.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import {
  changeOwnKey,
  createOwnKey,
  findAccount,
  type KeyDependencies,
  type KeyRestrictions,
  type OwnKeyChange,
  rotateOwnKey,
} from "../../accounts/index.ts";
import { findOfferedModel, type LiveCatalog } from "../../catalog/index.ts";
import { requireFresh } from "../console-edge.ts";
import type { SiteSession } from "../sign-in/session/site-session.ts";
import type { BeginAttempt } from "../sign-in/throttle.ts";

const dayMs = 24 * 60 * 60_000;
const minuteMs = 60_000;
/** Keys stay in the books when they end, so not without end. Nobody needs as many. */
const newKeysMax = 200;

export type OwnKeyDependencies = KeyDependencies & {
  database: Database;
  catalog: Pick<LiveCatalog, "current">;
  logger: Logger;
  beginAttempt: BeginAttempt;
  /** How long contents are kept; with 0 no key can have them kept. */
  contentDays: number;
};

/** A key outlives the session that it is made in, so whoever finds a browser unattended must not get one. */
export async function makeOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  request: { name: string; logsContent?: boolean } & Partial<KeyRestrictions>,
) {
  const { database, clock, ids, randomBytes, logger, beginAttempt } = dependencies;
  requireFresh(session, clock.now());
  requireContentLog(dependencies, request);
  const { accountId, userId } = session;
  const hasModel = await listKeyModels(dependencies, session);
  const made = await countNewKey(beginAttempt, accountId, () =>
    createOwnKey({ database, hasModel, clock, ids, randomBytes }, { ...request, accountId }),
  );
  logger.info({ account_id: accountId, user_id: userId, key_id: made.apiKey.id }, "an API key was created");
  return made;
}

export async function replaceOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  { id, overlapMinutes }: { id: string; overlapMinutes: number },
) {
  requireFresh(session, dependencies.clock.now());
  const { accountId, userId } = session;
  const made = await countNewKey(dependencies.beginAttempt, accountId, () =>
    rotateOwnKey(dependencies, { accountId, id }, { overlapMs: overlapMinutes * minuteMs }),
  );
  const fields = { account_id: accountId, user_id: userId, key_id: made.apiKey.id, replaced_key_id: id };
  dependencies.logger.info(fields, "an API key was rotated");
  return made;
}

/** A key that may do more is as good as a new one, so it takes the same proof. */
export async function editOwnKey(
  dependencies: OwnKeyDependencies,
  session: SiteSession,
  id: string,
  change: OwnKeyChange,
) {
  const { database, clock, logger } = dependencies;
  const { accountId, userId } = session;
  requireContentLog(dependencies, change);
  const hasModel = await listKeyModels(dependencies, session);
  const permitWidening = (): void => requireFresh(session, clock.now());
  const changed = await changeOwnKey({ database, clock, hasModel, permitWidening }, { accountId, id }, change);
  if (change.logsContent !== undefined) {
    const fields = { account_id: accountId, user_id: userId, key_id: id, content_log: changed.logsContent };
    logger.info(fields, "the content log of an API key was switched");
  }
  return changed;
}

function requireContentLog(
  { contentDays }: OwnKeyDependencies,
  { logsContent = false }: { logsContent?: boolean },
): void {
  if (!logsContent || contentDays > 0) return;
  throw new AppError("invalid_parameter", "This service keeps no contents of requests, so the content log stays off.", {
    param: "content_log",
  });
}

/** A key can be limited to what its account may use; of other models nobody is told that they exist. */
async function listKeyModels({ database, catalog, clock }: OwnKeyDependencies, { accountId }: SiteSession) {
  const account = await findAccount(database, accountId);
  invariant(account !== null, `a session is of the account ${accountId}, which does not exist`);
  const audience = { accountId, planId: account.planId, modelIds: null };
  const view = catalog.current();
  return (modelId: string): boolean => findOfferedModel(view, modelId, audience, clock.now()).kind === "offered";
}

/** Only what becomes a key counts: a form may be sent again until it is right. */
async function countNewKey<T>(beginAttempt: BeginAttempt, accountId: string, make: () => Promise<T>): Promise<T> {
  const attempt = await beginAttempt([{ key: `new-key:${accountId}`, max: newKeysMax, withinMs: dayMs }]);
  try {
    return await make();
  } catch (error) {
    await attempt.succeed();
    throw error;
  }
}
