import type { AccountId, SessionId, UserId } from "../../../../lib/ids.ts";

/** A signed-in user in one browser. */
export type SiteSession = {
  id: SessionId;
  userId: UserId;
  accountId: AccountId;
  email: string;
  isEmailVerified: boolean;
  createdAt: Date;
  /** End of the reauthentication window. */
  freshUntil: Date;
};

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How long a reauthentication lasts. */
export const freshMs = 10 * minuteMs;
/** Overlap for requests of other tabs with the previous token. */
export const previousTokenMs = 10_000;
/** Idle timeout. */
export const sessionIdleMs = 14 * dayMs;
/** Absolute lifetime. */
export const sessionAgeMsMax = 60 * dayMs;
/** Minimum interval between recorded uses. */
export const sessionSeenEveryMs = minuteMs;
