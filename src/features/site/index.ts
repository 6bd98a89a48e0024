/**
 * The web site: sign-in, sessions, pages and their API under `/console/api`.
 *
 * Promises: session tokens, mailed links and codes are stored only as hashes and never logged. Without a session,
 * neither texts nor response times reveal who has an account. One-time tokens work once, under any concurrency. State
 * changes need an Origin of this site (CSRF protection), and changes of sign-in methods a reauthentication within the
 * last ten minutes.
 */

export { type Brand, logoEndings } from "./brand/brand.ts";
export { deriveAccent, findReadable } from "./brand/brand-accent.ts";
export { deleteOldRequests } from "./connect/connect-store.ts";
export { createSite, type Site } from "./create-site.ts";
export { deleteOldSignIns } from "./sign-in/create-sign-in.ts";
export { createResetLink } from "./sign-in/password/change-password.ts";
export { requireGoodPassword } from "./sign-in/password/check-password.ts";
export { hashPassword } from "./sign-in/password/password.ts";
export { resetSecondFactor } from "./sign-in/second-factor/reset-second-factor.ts";
export { endSessionsOfAccount } from "./sign-in/session/session-store.ts";
export { requireLiveSession } from "./sign-in/session/sessions.ts";
export { createUser } from "./sign-in/user/create-user.ts";
export { inviteUser } from "./sign-in/user/invite-user.ts";
export { normalizeMailbox } from "./sign-in/user/normalize-mailbox.ts";
export type { User } from "./sign-in/user/user.ts";
export { findUserByEmail, findUserOfAccount, listUsers } from "./sign-in/user/user-store.ts";
export type { SiteOptions } from "./site-dependencies.ts";
