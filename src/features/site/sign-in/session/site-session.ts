export type { SiteSession } from "../../../../lib/console-session.ts";

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
