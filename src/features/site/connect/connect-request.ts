import type { AccountId, KeyId, SessionId, UserId } from "../../../lib/ids.ts";
import type { Nano } from "../../../lib/money.ts";

/** Delivery to a program on the browser's machine. */
export type BrowserWay = {
  kind: "browser";
  redirectUri: string;
  /** The program's `state`, URL-encoded for the callback. */
  clientState: string;
  /** Set if the program wants a code, exchanged with PKCE, instead of the key. */
  codeChallenge: string | null;
};

/** Device flow: the program polls. */
export type DeviceWay = {
  kind: "device";
  userCode: string;
  pollSeconds: number;
  polledAt: Date | null;
  asker: DeviceAsker;
};

/** Origin of a device request, so the user can recognize it. */
export type DeviceAsker = { address: string; userAgent: string; at: Date };

export type ConnectState = "open" | "approved" | "denied" | "delivered";

/** Limits set by the user who approved. */
export type KeyTerms = { days: number | null; budget: Nano | null };

/** The owner of the request once opened. */
export type RequestOwner = { sessionId: SessionId; userId: UserId; accountId: AccountId };

/** A program's request for a key. */
export type ConnectRequest = {
  id: string;
  client: string;
  way: BrowserWay | DeviceWay;
  state: ConnectState;
  owner: RequestOwner | null;
  terms: KeyTerms;
  keyId: KeyId | null;
  /** Deadline for the decision; after approval, for collecting the key. */
  expiresAt: Date;
};

/** State shown to the waiting page. */
export type ConnectProgress = "waiting" | "delivered" | "denied" | "expired";

export const requestMs = 10 * 60_000;
export const codeMs = 60_000;

/** A key counts as delivered when used; a code when exchanged. */
export function decideProgress(
  { state, keyId, expiresAt }: ConnectRequest,
  { now, isKeyUsed }: { now: Date; isKeyUsed: boolean },
): ConnectProgress {
  if (state === "denied" || state === "delivered") return state;
  if (isKeyUsed) return "delivered";
  // An issued key works however late it is used.
  return keyId === null && expiresAt <= now ? "expired" : "waiting";
}

export function presentCallback(
  { redirectUri, clientState }: BrowserWay,
  answer: { api_key: string } | { code: string } | { error: "access_denied" },
): string {
  return `${redirectUri}?${new URLSearchParams(answer)}&state=${clientState}`;
}
