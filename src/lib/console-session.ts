import type { AccountId, SessionId, UserId } from "./ids.ts";

/** One browser in which a user is signed in. */
export type SiteSession = {
  id: SessionId;
  userId: UserId;
  accountId: AccountId;
  email: string;
  isEmailVerified: boolean;
  createdAt: Date;
  /** Until then the user need not reauthenticate. */
  freshUntil: Date;
  /** The request that is being handled, for the audit log; `null` outside of one. */
  from: { address: string; requestId: string | null } | null;
  /** Whether a passkey or a code opened or confirmed it. */
  isTwoStep: boolean;
  /** An operator's read-only view of a customer's account: user and account are the customer's. */
  view: { id: string; endsAt: Date } | null;
};
