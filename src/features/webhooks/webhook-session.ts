import { createHmac } from "node:crypto";
import type { AccountId, KeyId, WebhookSessionId } from "../../lib/ids.ts";

/** A stream of an account's events, signed like deliveries. */
export type WebhookSession = {
  id: WebhookSessionId;
  accountId: AccountId;
  keyId: KeyId;
  startedAt: Date;
  /** Until when it counts as a listener, unless it is read again. */
  listeningUntil: Date;
};

/** Open sessions per account. */
export const sessionsMax = 10;

const listeningMs = 60_000;

export function decideListeningEnd(now: Date): Date {
  return new Date(now.getTime() + listeningMs);
}

/**
 * The same for every session of a key, so that a receiver under development needs no new secret; never a real signing
 * secret.
 */
export function deriveSessionSecret(
  secretKey: Uint8Array,
  { accountId, keyId }: Pick<WebhookSession, "accountId" | "keyId">,
): string {
  return `whsec_${createHmac("sha256", secretKey).update(`${accountId} ${keyId}`).digest("base64")}`;
}
