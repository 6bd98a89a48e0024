import type { Clock } from "../../../lib/clock.ts";
import type { IdSource, SessionId, UserId } from "../../../lib/ids.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import {
  deleteOldestSessions,
  findSessionByToken,
  insertSession,
  type SessionLimits,
  updateSessionSeen,
  updateSessionToken,
} from "./session-store.ts";
import { freshMs, type SiteSession, sessionAgeMsMax, sessionIdleMs, sessionSeenEveryMs } from "./site-session.ts";
import { hashToken, makeToken } from "./user-token.ts";

export type SessionParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
};

/** The browser that a session is opened in, as its owner will recognise it in the list. */
export type Browser = { userAgent: string; address: string };

const userAgentCharactersMax = 300;
const sessionsMax = 100;

/** Opens a session and answers the text of its cookie. Nothing that a browser brought along becomes a session. */
export async function openSession(parts: SessionParts, userId: UserId, browser: Browser): Promise<string> {
  const now = parts.clock.now();
  const token = makeToken(parts.randomBytes);
  await insertSession(parts.database, {
    id: parts.ids.next("ses"),
    userId,
    tokenHash: token.hash,
    createdAt: now,
    lastSeenAt: now,
    freshUntil: new Date(now.getTime() + freshMs),
    userAgent: browser.userAgent.slice(0, userAgentCharactersMax),
    address: browser.address,
  });
  await deleteOldestSessions(parts.database, userId, sessionsMax);
  return token.text;
}

/** The session that a cookie leads to, or `null`; its use is written down now and then. */
export async function readSession(
  { database, clock }: Pick<SessionParts, "database" | "clock">,
  tokenText: string,
): Promise<SiteSession | null> {
  const now = clock.now();
  const found = await findSessionByToken(database, hashToken(tokenText), limitSessions(now));
  if (found === null) return null;
  if (now.getTime() - found.lastSeenAt.getTime() >= sessionSeenEveryMs) {
    await updateSessionSeen(database, found.session.id, now);
  }
  return found.session;
}

/** A new token for a session whose owner has just proven who they are, or changed what they can do. */
export async function renewSession(
  { database, clock, randomBytes }: Pick<SessionParts, "database" | "clock" | "randomBytes">,
  id: SessionId,
): Promise<{ token: string; freshUntil: Date }> {
  const token = makeToken(randomBytes);
  const freshUntil = new Date(clock.now().getTime() + freshMs);
  if (await updateSessionToken(database, id, { tokenHash: token.hash, freshUntil })) {
    return { token: token.text, freshUntil };
  }
  throw new AppError("not_signed_in", "The session has ended. Sign in again.");
}

/** What is older than this is over. */
export function limitSessions(now: Date): SessionLimits {
  return {
    createdAfter: new Date(now.getTime() - sessionAgeMsMax),
    seenAfter: new Date(now.getTime() - sessionIdleMs),
  };
}
