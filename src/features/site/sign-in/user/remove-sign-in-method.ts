import type { SiteSession } from "../../../../lib/console-session.ts";
import type { UserId } from "../../../../lib/ids.ts";
import { type Database, inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { appendOwnAction } from "../../../audit/index.ts";
import { deletePasskey, listPasskeys } from "../passkey/passkey-store.ts";
import { deleteIdentity, listIdentities } from "../provider/identity-store.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { lockUser } from "./user-store.ts";

export async function removePasskey(dependencies: SignInDependencies, session: SiteSession, id: string): Promise<void> {
  await removeWay(dependencies, session, { action: "passkey.removed", subject: id }, async (tx) => {
    if (await deletePasskey(tx, { userId: session.userId, id })) return;
    throw new AppError("not_found", "You have no such passkey.");
  });
  dependencies.notifyChange(session, "A passkey was removed");
}

/** Disconnects a provider, whose name may be unknown by now. */
export async function disconnectService(
  dependencies: SignInDependencies,
  session: SiteSession,
  providerId: string,
): Promise<void> {
  await removeWay(dependencies, session, { action: "service.disconnected", subject: providerId }, async (tx) => {
    if (await deleteIdentity(tx, { userId: session.userId, providerId })) return;
    throw new AppError("not_found", "This service is not connected to your account.");
  });
  const name = dependencies.providers.find(({ id }) => id === providerId)?.name ?? providerId;
  dependencies.notifyChange(session, `${name} was disconnected as a way to sign in`);
}

/** Keeps at least one sign-in method. Locks the user, so two concurrent removals cannot both pass. */
async function removeWay(
  { database, providers }: SignInDependencies,
  session: SiteSession,
  action: { action: string; subject: string },
  remove: (tx: Database) => Promise<void>,
): Promise<void> {
  const { userId } = session;
  await inTransaction(database, async (tx) => {
    const user = await lockUser(tx, userId);
    await remove(tx);
    if (user !== null && user.passwordHash === null) await requireAnotherWay(tx, userId, providers);
    await appendOwnAction(tx, session, action);
  });
}

async function requireAnotherWay(
  tx: Database,
  userId: UserId,
  providers: SignInDependencies["providers"],
): Promise<void> {
  const [passkeys, identities] = [await listPasskeys(tx, userId), await listIdentities(tx, userId)];
  // A provider that the site no longer offers does not count.
  const services = identities.filter(({ providerId }) => providers.some(({ id }) => id === providerId));
  if (passkeys.length + services.length > 0) return;
  const message = "This is your last sign-in method. Set a password or add a passkey, then remove it.";
  throw new AppError("invalid_parameter", message, { param: "id" });
}
