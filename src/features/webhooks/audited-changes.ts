import type { Caller } from "../../lib/caller.ts";
import type { SiteSession } from "../../lib/console-session.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { appendOwnAction } from "../audit/index.ts";
import { changeEndpoint, getEndpoint, removeEndpoint, rotateEndpointSecret } from "./change-endpoint.ts";
import { createEndpoint } from "./create-endpoint.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

/** Who changes an endpoint: the owner in the console, or a program with a key. */
export type EndpointOwner = {
  caller: Pick<Caller, "accountId" | "keyId">;
  session: SiteSession | null;
  from: { address: string; requestId: string };
};

type Kind = "created" | "changed" | "deleted" | "secret_rotated";

export async function createOwnEndpoint(
  dependencies: WebhookDependencies,
  owner: EndpointOwner,
  request: Omit<Parameters<typeof createEndpoint>[1], "accountId">,
) {
  return await inTransaction(dependencies.database, async (tx) => {
    const { accountId } = owner.caller;
    const created = await createEndpoint({ ...dependencies, database: tx }, { ...request, accountId });
    await append(tx, owner, "created", { id: created.endpoint.id, before: null, after: created.endpoint });
    return created;
  });
}

export async function changeOwnEndpoint(
  dependencies: WebhookDependencies,
  owner: EndpointOwner,
  id: string,
  changes: Parameters<typeof changeEndpoint>[2],
): Promise<WebhookEndpoint> {
  return await inTransaction(dependencies.database, async (tx) => {
    const name = { accountId: owner.caller.accountId, id };
    const before = await getEndpoint(tx, name);
    const after = await changeEndpoint({ ...dependencies, database: tx }, name, changes);
    await append(tx, owner, "changed", { id, before, after });
    return after;
  });
}

export async function removeOwnEndpoint(database: Database, owner: EndpointOwner, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    const name = { accountId: owner.caller.accountId, id };
    const before = await getEndpoint(tx, name);
    await removeEndpoint(tx, name);
    await append(tx, owner, "deleted", { id, before, after: null });
  });
}

export async function rotateOwnSecret(dependencies: WebhookDependencies, owner: EndpointOwner, id: string) {
  return await inTransaction(dependencies.database, async (tx) => {
    const name = { accountId: owner.caller.accountId, id };
    const rotated = await rotateEndpointSecret({ ...dependencies, database: tx }, name);
    await append(tx, owner, "secret_rotated", { id, before: null, after: null });
    return rotated;
  });
}

type Change = { id: string; before: WebhookEndpoint | null; after: WebhookEndpoint | null };

async function append(
  tx: Database,
  { caller, session, from }: EndpointOwner,
  kind: Kind,
  { id, before, after }: Change,
): Promise<void> {
  const facts = { action: `webhook.${kind}`, subject: id, before: describe(before), after: describe(after) };
  const owner = session === null ? { ...caller, from } : { ...session, from };
  await appendOwnAction(tx, owner, facts);
}

function describe(endpoint: WebhookEndpoint | null) {
  if (endpoint === null) return null;
  const { url, description, eventTypes, disabled } = endpoint;
  return { url, description, event_types: eventTypes, enabled: disabled === null };
}
