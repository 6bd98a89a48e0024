import type { AccountId, KeyId, SessionId, UserId } from "../../../lib/ids.ts";
import type { Nano } from "../../../lib/money.ts";

/** How a program that runs beside the browser is answered. */
export type BrowserWay = {
  kind: "browser";
  redirectUri: string;
  /** The program's `state`, encoded as it goes back. */
  clientState: string;
  /** Of a program that wants a code, which only it can exchange, instead of the key. */
  codeChallenge: string | null;
};

/** How a program on a machine without a browser is answered: it asks again and again. */
export type DeviceWay = {
  kind: "device";
  userCode: string;
  pollSeconds: number;
  polledAt: Date | null;
  asker: DeviceAsker | null;
};

/** Where a device asked from, when, and what it said it is: for the person who is to tell whether it is theirs. */
export type DeviceAsker = { address: string; userAgent: string; at: Date };

export type ConnectState = "open" | "approved" | "denied" | "delivered";

/** What the person who approved limited the key to. */
export type KeyTerms = { days: number | null; budget: Nano | null };

/** Whose request it has become. */
export type RequestOwner = { sessionId: SessionId; userId: UserId; accountId: AccountId };

/** A program's request to be connected to the account of whoever answers it. */
export type ConnectRequest = {
  id: string;
  client: string;
  way: BrowserWay | DeviceWay;
  state: ConnectState;
  owner: RequestOwner | null;
  terms: KeyTerms;
  keyId: KeyId | null;
  /** Until when it can be answered; once it is approved, until when the program can come for its key. */
  expiresAt: Date;
};

/** What a page that waits for the program is told. */
export type ConnectProgress = "waiting" | "delivered" | "denied" | "expired";

export const requestMs = 10 * 60_000;
export const codeMs = 60_000;

/** A key that was handed over itself has arrived when it is used; a code, when it was exchanged. */
export function decideProgress(
  { state, keyId, expiresAt }: ConnectRequest,
  { now, isKeyUsed }: { now: Date; isKeyUsed: boolean },
): ConnectProgress {
  if (state === "denied" || state === "delivered") return state;
  if (isKeyUsed) return "delivered";
  // A key that exists works however late it is used.
  return keyId === null && expiresAt <= now ? "expired" : "waiting";
}

/** The address that brings the answer to the program. */
export function presentCallback(
  { redirectUri, clientState }: BrowserWay,
  answer: { api_key: string } | { code: string } | { error: "access_denied" },
): string {
  return `${redirectUri}?${new URLSearchParams(answer)}&state=${clientState}`;
}
