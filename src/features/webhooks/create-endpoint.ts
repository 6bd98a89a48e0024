import type { AccountId } from "../../lib/ids.ts";
import { notifyAccountChange } from "../../platform/database/account-changes.ts";
import { inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { checkWebhookUrl, normaliseUrl } from "./check-webhook-url.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { endpointsMax, type WebhookEndpoint } from "./webhook-endpoint.ts";
import { insertEndpoint, lockEndpointsOf } from "./webhook-endpoint-store.ts";
import type { EventType } from "./webhook-event.ts";

type NewEndpoint = { accountId: AccountId; url: string; description: string; eventTypes: readonly EventType[] };

/** The only response that contains the secret. */
export async function createEndpoint(
  dependencies: Pick<WebhookDependencies, "database" | "clock" | "ids" | "secretBox" | "allowsPrivate">,
  { accountId, url, description, eventTypes }: NewEndpoint,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { database, clock, ids, secretBox, allowsPrivate } = dependencies;
  checkWebhookUrl(url, { param: "url", allowsPrivate });
  const endpoint: WebhookEndpoint = {
    id: ids.next("whe"),
    accountId,
    url: normaliseUrl(url),
    description,
    eventTypes: [...new Set(eventTypes)],
    previousSecretUntil: null,
    failingSince: null,
    disabled: null,
    createdAt: clock.now(),
  };
  const { text, sealed } = secretBox.make(endpoint.id);
  await inTransaction(database, async (tx) => {
    if ((await lockEndpointsOf(tx, accountId)) >= endpointsMax) {
      const message = `An account can have at most ${endpointsMax} webhook endpoints. Delete one first.`;
      throw new AppError("invalid_parameter", message);
    }
    if (!(await insertEndpoint(tx, endpoint, sealed))) throw createKnownUrl();
    await notifyAccountChange(tx, accountId, "deliveries");
  });
  return { endpoint, secret: text };
}

export function createKnownUrl(): AppError {
  return new AppError("invalid_parameter", "The account already has an endpoint with this URL.", { param: "url" });
}
