/**
 * The web site: signing in, sessions, the pages and their own API under `/console/api`.
 *
 * Promises: the text of a session's cookie, of a link in a mail or of a code is in no table and no log. Whoever is not
 * signed in learns nothing about who has an account, neither by words nor by time. What can be used once is used once,
 * however many try at the same time. What changes something is taken from this site's own pages only, and what changes
 * how somebody signs in needs a proof of who they are that is at most ten minutes old.
 */

export { type Brand, logoEndings } from "./brand/brand.ts";
export { deriveAccent, findReadable } from "./brand/brand-accent.ts";
export { forgetOldRequests } from "./connect/forget-requests.ts";
export { consoleErrors, findSession, getSession, requireFresh } from "./console-edge.ts";
export { createSite, type Site, type SiteOptions } from "./create-site.ts";
export { forgetOldSignIns } from "./sign-in/create-sign-in.ts";
export { createResetLink } from "./sign-in/password/change-password.ts";
export { requireGoodPassword } from "./sign-in/password/check-password.ts";
export { hashPassword } from "./sign-in/password/password.ts";
export { requireLiveSession } from "./sign-in/session/sessions.ts";
export type { SiteSession } from "./sign-in/session/site-session.ts";
export { createUser } from "./sign-in/user/create-user.ts";
export { inviteUser } from "./sign-in/user/invite-user.ts";
export type { User } from "./sign-in/user/user.ts";
export { findUserByEmail, findUserOfAccount, listUsers } from "./sign-in/user/user-store.ts";
