import type { Clock } from "../../../../lib/clock.ts";
import type { IdSource, SessionId, UserId } from "../../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { User } from "../user/user.ts";
import { lockUser } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import {
  deleteOldestSessions,
  findSessionByToken,
  findSessionTimes,
  insertSession,
  type SessionLimits,
  updateSessionSeen,
  updateSessionToken,
} from "./session-store.ts";
import {
  freshMs,
  previousTokenMs,
  type SiteSession,
  sessionAgeMsMax,
  sessionIdleMs,
  sessionSeenEveryMs,
} from "./site-session.ts";

/** The browser that a session is opened in, as its owner will recognise it in the list. */
export type Browser = { userAgent: string; address: string };

const userAgentCharactersMax = 300;
const sessionsMax = 100;

/**
 * Whether what somebody signs in with is still theirs. Asked while the person is locked: a password that is being reset,
 * or a passkey that is being removed, opens no session behind the back of who ends them all.
 */
export type StillHolds = (tx: Database, user: User) => boolean | Promise<boolean>;

/** Does the work while the person cannot change, if what they sign in with still holds; else answers `null`. */
export async function withHeldProof<T>(
  database: Database,
  { userId, stillHolds }: { userId: UserId; stillHolds: StillHolds },
  work: (tx: Database) => Promise<T>,
): Promise<T | null> {
  return await inTransaction(database, async (tx) => {
    const user = await lockUser(tx, userId);
    return user !== null && (await stillHolds(tx, user)) ? await work(tx) : null;
  });
}

type SessionRequest = { userId: UserId; browser: Browser; stillHolds: StillHolds };

export type Sessions = {
  /**
   * Opens a session and answers the text of its cookie; `null` when what it was opened with holds no longer. Nothing that
   * a browser brought along becomes a session.
   */
  open(database: Database, request: SessionRequest): Promise<string | null>;
  /**
   * A new token for a session whose owner has just proven who they are, or changed what they can do. After a `change`
   * nobody else is signed in, not even for a moment; with a `proof` what other tabs have just sent is answered.
   */
  renew(database: Database, id: SessionId, after: "proof" | "change"): Promise<{ token: string; freshUntil: Date }>;
};

type SessionOptions = { clock: Clock; ids: IdSource; randomBytes: (count: number) => Uint8Array };

export function createSessions({ clock, ids, randomBytes }: SessionOptions): Sessions {
  return {
    async open(database, request) {
      const { userId, browser } = request;
      const token = makeToken(randomBytes);
      return await withHeldProof(database, request, async (tx) => {
        const now = clock.now();
        await insertSession(tx, {
          id: ids.next("ses"),
          userId,
          tokenHash: token.hash,
          createdAt: now,
          lastSeenAt: now,
          freshUntil: new Date(now.getTime() + freshMs),
          userAgent: browser.userAgent.slice(0, userAgentCharactersMax),
          address: browser.address,
        });
        await deleteOldestSessions(tx, userId, sessionsMax);
        return token.text;
      });
    },
    async renew(database, id, after) {
      const token = makeToken(randomBytes);
      const now = clock.now().getTime();
      const freshUntil = new Date(now + freshMs);
      const previousUntil = after === "proof" ? new Date(now + previousTokenMs) : null;
      if (await updateSessionToken(database, id, { tokenHash: token.hash, freshUntil, previousUntil })) {
        return { token: token.text, freshUntil };
      }
      throw createEnded();
    },
  };
}

/** The session that a cookie leads to, or `null`; its use is written down now and then. */
export async function readSession(database: Database, tokenText: string, now: Date): Promise<SiteSession | null> {
  const found = await findSessionByToken(database, hashToken(tokenText), { now, limits: limitSessions(now) });
  if (found === null) return null;
  if (now.getTime() - found.lastSeenAt.getTime() >= sessionSeenEveryMs) {
    await updateSessionSeen(database, found.session.id, now);
  }
  return found.session;
}

/** Throws when the session has ended. Answers when it ends by itself, if nobody uses it before. */
export async function requireLiveSession(database: Database, id: SessionId, now: Date): Promise<Date> {
  const times = await findSessionTimes(database, id, limitSessions(now));
  if (times === null) throw createEnded();
  return new Date(Math.min(times.createdAt.getTime() + sessionAgeMsMax, times.lastSeenAt.getTime() + sessionIdleMs));
}

function createEnded(): AppError {
  return new AppError("not_signed_in", "The session has ended. Sign in again.");
}

/** What is older than this is over. */
export function limitSessions(now: Date): SessionLimits {
  return {
    createdAfter: new Date(now.getTime() - sessionAgeMsMax),
    seenAfter: new Date(now.getTime() - sessionIdleMs),
  };
}
