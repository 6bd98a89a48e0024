import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { AnnounceChange } from "../announce-change.ts";
import { deletePasskey, listPasskeys } from "../passkey/passkey-store.ts";
import { deleteIdentity, listIdentities } from "../provider/identity-store.ts";
import type { OidcProvider } from "../provider/oidc-provider.ts";
import type { SiteSession } from "../session/site-session.ts";
import { lockUser } from "./user-store.ts";

export type RemovalDependencies = {
  database: Database;
  providers: readonly OidcProvider[];
  announceChange: AnnounceChange;
};

export async function removePasskey(
  dependencies: RemovalDependencies,
  session: SiteSession,
  id: string,
): Promise<void> {
  await removeWay(dependencies, session, async (tx) => {
    if (await deletePasskey(tx, { userId: session.userId, id })) return;
    throw new AppError("not_found", "You have no such passkey.");
  });
  dependencies.announceChange(session, "A passkey was removed");
}

/** The service may sign the person in no longer. What it is called may be known no longer either. */
export async function disconnectService(
  dependencies: RemovalDependencies,
  session: SiteSession,
  providerId: string,
): Promise<void> {
  await removeWay(dependencies, session, async (tx) => {
    if (await deleteIdentity(tx, { userId: session.userId, providerId })) return;
    throw new AppError("not_found", "You are not connected to such a service.");
  });
  const name = dependencies.providers.find(({ id }) => id === providerId)?.name ?? providerId;
  dependencies.announceChange(session, `${name} was disconnected as a way to sign in`);
}

/** Nobody locks themselves out: whatever is removed, one way to sign in is left. Two removals at once do not both pass. */
async function removeWay(
  { database, providers }: RemovalDependencies,
  { userId }: SiteSession,
  remove: (tx: Database) => Promise<void>,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    const user = await lockUser(tx, userId);
    await remove(tx);
    if (user === null || user.passwordHash !== null) return;
    const [passkeys, identities] = [await listPasskeys(tx, userId), await listIdentities(tx, userId)];
    // A service that this site has no longer signs nobody in.
    const services = identities.filter(({ providerId }) => providers.some(({ id }) => id === providerId));
    if (passkeys.length + services.length > 0) return;
    const message = "This is your last way to sign in. Set a password, or add a passkey, then remove it.";
    throw new AppError("invalid_parameter", message, { param: "id" });
  });
}
