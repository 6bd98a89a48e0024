import type { Acting } from "../features/admin/index.ts";
import { getActor } from "./credit-commands.ts";

/** Who acts on the command line, for the audit log: the user of the host. */
export function getActing(): Acting {
  return { actor: { kind: "command", id: null, name: getActor() }, address: null, requestId: null };
}
