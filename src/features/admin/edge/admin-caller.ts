import type { SiteSession } from "../../../lib/console-session.ts";
import type { AdminKeyId } from "../../../lib/ids.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { OperatorRole } from "../../../lib/operator-role.ts";
import type { AuditActor, NewAuditEntry } from "../../audit/index.ts";
import type { AdminAccess, AdminScope } from "./admin-endpoint-table.ts";

/** Who calls the operators' API: an operator in a browser, or a program with an admin key. */
export type AdminCaller =
  | { kind: "operator"; session: SiteSession; role: OperatorRole }
  | { kind: "key"; id: AdminKeyId; name: string; scopes: readonly AdminScope[]; access: AdminAccess };

/** The subset of the framework's request that operations need. */
export type AdminRequest = { id: string; ip: string };

const callers = new WeakMap<object, AdminCaller>();

export function setAdminCaller(request: object, caller: AdminCaller): void {
  callers.set(request, caller);
}

export function getAdminCaller(request: object): AdminCaller {
  const caller = callers.get(request);
  invariant(caller !== undefined, "this route is not of the operators' API");
  return caller;
}

/** The name that ledger entries, switches and secrets record. */
export function nameActor(actor: AuditActor): string {
  return actor.kind === "key" ? `admin key ${actor.name}` : actor.name;
}

/** Who acts, for the audit log. */
export type Acting = Pick<NewAuditEntry, "actor" | "address" | "requestId">;

export function getActing(request: AdminRequest): Acting {
  const caller = getAdminCaller(request);
  const actor: AuditActor =
    caller.kind === "key"
      ? { kind: "key", id: caller.id, name: caller.name }
      : { kind: "operator", id: caller.session.userId, name: caller.session.email };
  return { actor, address: request.ip, requestId: request.id };
}
