import { invariant } from "../../../lib/invariant.ts";
import {
  changeOwnKey,
  createOwnKey,
  findAccount,
  type KeyRestrictions,
  type OwnKeyChange,
  rotateOwnKey,
} from "../../accounts/index.ts";
import { findOfferedModel } from "../../catalog/index.ts";
import { requireFresh } from "../console-edge.ts";
import type { SiteSession } from "../sign-in/session/site-session.ts";
import { beginAttempt } from "../sign-in/throttle.ts";
import type { AccountParts } from "./account-parts.ts";

const dayMs = 24 * 60 * 60_000;
const minuteMs = 60_000;
/** Keys stay in the books when they end, so not without end. Nobody needs as many. */
const newKeysMax = 200;

/** A key outlives the session that it is made in, so whoever finds a browser unattended must not get one. */
export async function makeOwnKey(
  parts: AccountParts,
  session: SiteSession,
  request: { name: string } & Partial<KeyRestrictions>,
) {
  requireFresh(session, parts.clock.now());
  const { accountId, userId } = session;
  const hasModel = await listKeyModels(parts, session);
  const made = await countNewKey(parts, session, () => createOwnKey({ ...parts, hasModel }, { ...request, accountId }));
  parts.logger.info({ account_id: accountId, user_id: userId, key_id: made.apiKey.id }, "an API key was created");
  return made;
}

export async function replaceOwnKey(
  parts: AccountParts,
  session: SiteSession,
  { id, overlapMinutes }: { id: string; overlapMinutes: number },
) {
  requireFresh(session, parts.clock.now());
  const { accountId, userId } = session;
  const made = await countNewKey(parts, session, () =>
    rotateOwnKey(parts, { accountId, id }, { overlapMs: overlapMinutes * minuteMs }),
  );
  const fields = { account_id: accountId, user_id: userId, key_id: made.apiKey.id, replaced_key_id: id };
  parts.logger.info(fields, "an API key was rotated");
  return made;
}

/** A key that may do more is as good as a new one, so it takes the same proof. */
export async function editOwnKey(parts: AccountParts, session: SiteSession, id: string, change: OwnKeyChange) {
  const hasModel = await listKeyModels(parts, session);
  const permitWidening = (): void => requireFresh(session, parts.clock.now());
  return await changeOwnKey({ ...parts, hasModel, permitWidening }, { accountId: session.accountId, id }, change);
}

/** A key can be limited to what its account may use; of other models nobody is told that they exist. */
async function listKeyModels({ database, catalog, clock }: AccountParts, { accountId }: SiteSession) {
  const account = await findAccount(database, accountId);
  invariant(account !== null, `a session is of the account ${accountId}, which does not exist`);
  const audience = { accountId, planId: account.planId, modelIds: null };
  const view = catalog.current();
  return (modelId: string): boolean => findOfferedModel(view, modelId, audience, clock.now()).kind === "offered";
}

/** Only what becomes a key counts: a form may be sent again until it is right. */
async function countNewKey<T>(parts: AccountParts, { accountId }: SiteSession, make: () => Promise<T>): Promise<T> {
  const attempt = await beginAttempt(parts, [{ key: `new-key:${accountId}`, max: newKeysMax, withinMs: dayMs }]);
  try {
    return await make();
  } catch (error) {
    await attempt.succeed();
    throw error;
  }
}
