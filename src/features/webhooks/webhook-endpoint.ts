import type { AccountId, WebhookEndpointId } from "../../lib/ids.ts";

/** An address that an account wants to be told of its events at. Its secret is known to its store and its signer only. */
export type WebhookEndpoint = {
  id: WebhookEndpointId;
  accountId: AccountId;
  url: string;
  description: string;
  /** Empty for all. */
  eventTypes: readonly string[];
  /** Until when the secret before the present one signs too. */
  previousSecretUntil: Date | null;
  /** The first failure since the last success. */
  failingSince: Date | null;
  disabled: { at: Date; reason: DisabledReason } | null;
  createdAt: Date;
};

/** By its owner, by its own answer 410, or because it failed for days. */
export type DisabledReason = "owner" | "gone" | "failing";

export const endpointsMax = 20;
export const urlCharactersMax = 2048;
export const descriptionCharactersMax = 500;

/** Where deliveries to an endpoint wait. The statement that records events writes the same. */
export function nameEndpointLane({ accountId, id }: Pick<WebhookEndpoint, "accountId" | "id">): string {
  return `${accountId}/${id}`;
}
