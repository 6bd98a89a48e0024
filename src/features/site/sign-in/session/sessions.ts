import type { SiteSession } from "../../../../lib/console-session.ts";
import type { SessionId, UserId } from "../../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { SiteDependencies } from "../../site-dependencies.ts";
import type { User } from "../user/user.ts";
import { findUser, lockUser } from "../user/user-store.ts";
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

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How long a reauthentication lasts. */
const freshMs = 10 * minuteMs;
/** Overlap for requests of other tabs with the previous token. */
const previousTokenMs = 10_000;
/** Idle timeout. */
const sessionIdleMs = 14 * dayMs;
/** Absolute lifetime. */
export const sessionAgeMsMax = 60 * dayMs;
/** Minimum interval between recorded uses. */
const sessionSeenEveryMs = minuteMs;

/** The browser, as shown in the list of sessions. */
export type Browser = { userAgent: string; address: string };

const userAgentCharactersMax = 300;
const sessionsMax = 100;

/**
 * Checks that the credential is still valid, while the user is locked: a password being reset or a passkey being
 * removed opens no session.
 */
export type StillHolds = (tx: Database, user: User) => boolean | Promise<boolean>;

/** Runs the work while the user is locked and the credential is valid; else returns `null`. */
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

type SessionRequest = {
  userId: UserId;
  browser: Browser;
  stillHolds: StillHolds;
  /** Whether the sign-in took a passkey or a code. */
  isTwoStep?: true;
};

export type Sessions = {
  /**
   * Opens a session and returns its cookie token; `null` if the credential is no longer valid. Ignores tokens from the
   * browser (session fixation).
   */
  open(database: Database, request: SessionRequest): Promise<string | null>;
  /**
   * Rotates the token after a reauthentication or a changed credential. After a `change` all other sessions end at
   * once; after a `proof` the old token stays valid briefly for other tabs. `isTwoStep` if that took a passkey or a code;
   * a session stays what it was otherwise.
   */
  renew(
    database: Database,
    id: SessionId,
    renewal: { after: "proof" | "change"; isTwoStep: boolean },
  ): Promise<{ token: string; freshUntil: Date }>;
};

export function createSessions({ clock, ids, randomBytes }: SiteDependencies): Sessions {
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
          isTwoStep: request.isTwoStep === true,
          userAgent: browser.userAgent.slice(0, userAgentCharactersMax),
          address: browser.address,
        });
        await deleteOldestSessions(tx, userId, sessionsMax);
        return token.text;
      });
    },
    async renew(database, id, { after, isTwoStep }) {
      const token = makeToken(randomBytes);
      const now = clock.now().getTime();
      const freshUntil = new Date(now + freshMs);
      const previousUntil = after === "proof" ? new Date(now + previousTokenMs) : null;
      if (await updateSessionToken(database, id, { tokenHash: token.hash, freshUntil, previousUntil, isTwoStep })) {
        return { token: token.text, freshUntil };
      }
      throw createEnded();
    },
  };
}

/** The session of a cookie, or `null`. Records its use from time to time. */
export async function readSession(database: Database, tokenText: string, now: Date): Promise<SiteSession | null> {
  const found = await findSessionByToken(database, hashToken(tokenText), { now, limits: limitSessions(now) });
  if (found === null) return null;
  if (now.getTime() - found.lastSeenAt.getTime() >= sessionSeenEveryMs) {
    await updateSessionSeen(database, found.session.id, now);
  }
  return found.session;
}

/** Throws if the session has ended. Returns its idle expiry. */
export async function requireLiveSession(database: Database, id: SessionId, now: Date): Promise<Date> {
  const times = await findSessionTimes(database, id, limitSessions(now));
  if (times === null) throw createEnded();
  return new Date(Math.min(times.createdAt.getTime() + sessionAgeMsMax, times.lastSeenAt.getTime() + sessionIdleMs));
}

/** The session's user, who may have been deleted a moment ago. */
export async function getSessionUser(database: Database, { userId }: Pick<SiteSession, "userId">): Promise<User> {
  const user = await findUser(database, userId);
  if (user === null) throw createEnded();
  return user;
}

function createEnded(): AppError {
  return new AppError("not_signed_in", "The session has ended. Sign in again.");
}

export function limitSessions(now: Date): SessionLimits {
  return {
    createdAfter: new Date(now.getTime() - sessionAgeMsMax),
    seenAfter: new Date(now.getTime() - sessionIdleMs),
  };
}
