import type { AccountId, WebhookEndpointId } from "../../lib/ids.ts";

/** A URL that receives an account's events. Only the store and the signer handle its secret. */
export type WebhookEndpoint = {
  id: WebhookEndpointId;
  accountId: AccountId;
  url: string;
  description: string;
  /** Empty for all types. */
  eventTypes: readonly string[];
  /** Until when the previous secret signs too. */
  previousSecretUntil: Date | null;
  /** The first failure since the last success. */
  failingSince: Date | null;
  disabled: { at: Date; reason: DisabledReason } | null;
  createdAt: Date;
};

/** Disabled by its owner, by answering 410, or after days of failures. */
export type DisabledReason = "owner" | "gone" | "failing";

export const endpointsMax = 20;
export const urlCharactersMax = 2048;
export const descriptionCharactersMax = 500;

/** The endpoint's lane. The SQL that records events builds the same name. */
export function nameEndpointLane({ accountId, id }: Pick<WebhookEndpoint, "accountId" | "id">): string {
  return `${accountId}/${id}`;
}
