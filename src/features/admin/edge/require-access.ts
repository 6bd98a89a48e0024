import { AppError } from "../../../platform/errors/app-error.ts";
import { requireFresh } from "../../../platform/http/console-edge.ts";
import type { AdminCaller } from "./admin-caller.ts";
import type { AdminEndpoint } from "./admin-endpoint-table.ts";

/** Whether a caller may do what needs this scope and access. */
export function requireAccess(caller: AdminCaller, { scope, access, proof }: AdminEndpoint, now: Date): void {
  if (caller.kind === "operator") {
    const { session, role } = caller;
    if (access === "write" && role === "reader") throw createNotPermitted("Your role can only read. Ask an operator.");
    if (proof !== undefined) requireFresh(session, now);
    return;
  }
  const { name, scopes } = caller;
  if (proof === "person") throw createNotPermitted("Only operators who signed in can do this; admin keys cannot.");
  if (scope !== null && !scopes.includes(scope)) {
    throw createNotPermitted(`The admin key ${name} does not have the scope ${scope}.`);
  }
  if (access === "write" && caller.access === "read") throw createNotPermitted(`The admin key ${name} can only read.`);
}

function createNotPermitted(message: string): AppError {
  return new AppError("operator_not_permitted", message);
}
