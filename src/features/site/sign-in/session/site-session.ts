import type { AccountId, SessionId, UserId } from "../../../../lib/ids.ts";

/** Somebody who is signed in, in one browser. */
export type SiteSession = {
  id: SessionId;
  userId: UserId;
  accountId: AccountId;
  email: string;
  isEmailVerified: boolean;
  createdAt: Date;
  /** Until when the person counts as having just proven who they are. */
  freshUntil: Date;
};

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How long a proof of who somebody is lasts for what needs one. */
export const freshMs = 10 * minuteMs;
/** What other tabs sent with the token before, while its owner proved who they are, is answered as long as this. */
export const previousTokenMs = 10_000;
/** A session that nobody uses ends after this. */
export const sessionIdleMs = 14 * dayMs;
/** However much it is used, it ends after this. */
export const sessionAgeMsMax = 60 * dayMs;
/** Its last use is written down at most this often. */
export const sessionSeenEveryMs = minuteMs;
