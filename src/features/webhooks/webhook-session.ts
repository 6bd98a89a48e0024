import { createHmac } from "node:crypto";
import type { AccountId, KeyId, WebhookSessionId } from "../../lib/ids.ts";

/** Somebody who reads an account's events as they happen, signed as if they were sent. */
export type WebhookSession = {
  id: WebhookSessionId;
  accountId: AccountId;
  keyId: KeyId;
  startedAt: Date;
  /** Until when it counts as a listener, unless it is read meanwhile. */
  listeningUntil: Date;
};

/** How many of an account can be open at a time. */
export const sessionsMax = 10;

const listeningMs = 60_000;

export function decideListeningEnd(now: Date): Date {
  return new Date(now.getTime() + listeningMs);
}

/**
 * The same for every session of a key, so that a program that is being written need not be told a new one each time, and
 * none of those that sign what is really sent.
 */
export function deriveSessionSecret(
  secretKey: Uint8Array,
  { accountId, keyId }: Pick<WebhookSession, "accountId" | "keyId">,
): string {
  return `whsec_${createHmac("sha256", secretKey).update(`${accountId} ${keyId}`).digest("base64")}`;
}
