import { readTimeZone } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getAdminCaller } from "../edge/admin-caller.ts";

/** The operator's own time zone; UTC for admin keys. */
export async function readOperatorZone(
  { database }: Pick<AdminDependencies, "database">,
  request: object,
): Promise<string> {
  const caller = getAdminCaller(request);
  return caller.kind === "key" ? "UTC" : await readTimeZone(database, caller.session.accountId);
}
