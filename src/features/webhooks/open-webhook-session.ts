import type { AccountId, KeyId } from "../../lib/ids.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { decideListeningEnd, sessionsMax, type WebhookSession } from "./webhook-session.ts";
import { deleteSession, findSession, insertSession, lockOpenSessionsOf } from "./webhook-session-store.ts";

/** A session counts as a listener for a minute, and while it is read. */
export async function openWebhookSession(
  { database, clock, ids }: WebhookDependencies,
  { accountId, keyId }: { accountId: AccountId; keyId: KeyId },
): Promise<WebhookSession> {
  const now = clock.now();
  const listeningUntil = decideListeningEnd(now);
  const session: WebhookSession = { id: ids.next("whs"), accountId, keyId, startedAt: now, listeningUntil };
  await inTransaction(database, async (tx) => {
    if ((await lockOpenSessionsOf(tx, accountId, now)) >= sessionsMax) {
      const message = `An account can have ${sessionsMax} open webhook sessions. End one, or wait a minute.`;
      throw new AppError("invalid_parameter", message);
    }
    await insertSession(tx, session);
  });
  return session;
}

export async function getSession(database: Database, accountId: AccountId, id: string): Promise<WebhookSession> {
  const session = await findSession(database, accountId, id);
  if (session === null) throw createUnknownSession();
  return session;
}

export async function endWebhookSession(database: Database, accountId: AccountId, id: string): Promise<void> {
  if (!(await deleteSession(database, accountId, id))) throw createUnknownSession();
}

function createUnknownSession(): AppError {
  return new AppError("not_found", "There is no such webhook session, or it was not read for a day.");
}
