import { AsyncLocalStorage } from "node:async_hooks";
import { userInfo } from "node:os";
import type { Acting } from "../features/admin/index.ts";

const remote = new AsyncLocalStorage<Acting>();

/** Runs a command's work in the name of a remote caller, however deep in it the name is read. */
export function actAs<T>(acting: Acting, work: () => Promise<T>): Promise<T> {
  return remote.run(acting, work);
}

/** Who acts, for the audit log: the remote caller, or the user of the host. */
export function getActing(): Acting {
  const acting = remote.getStore();
  if (acting !== undefined) return acting;
  return { actor: { kind: "command", id: null, name: userInfo().username }, address: null, requestId: null };
}

/** The same as a name, stored with every booking, switch and secret. */
export function getActor(): string {
  const { actor } = getActing();
  return actor.kind === "key" ? `admin key ${actor.name}` : actor.name;
}
