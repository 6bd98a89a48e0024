import { invariant } from "../../../lib/invariant.ts";
import type { Database } from "../../../platform/database/database.ts";
import { issueClientKey } from "../../accounts/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import type { ConnectRequest } from "./connect-request.ts";

const dayMs = 24 * 60 * 60_000;

/** Creates the approved key and revokes the program's previous one. */
export async function issueKey(
  tx: Database,
  dependencies: SiteDependencies,
  { id, owner, client, terms }: Pick<ConnectRequest, "id" | "owner" | "client" | "terms">,
) {
  invariant(owner !== null, `request ${id} has no owner`);
  const now = dependencies.clock.now();
  return await issueClientKey(tx, dependencies, {
    accountId: owner.accountId,
    client,
    expiresAt: terms.days === null ? null : new Date(now.getTime() + terms.days * dayMs),
    budget: terms.budget === null ? null : { amount: terms.budget, period: "total" },
  });
}
