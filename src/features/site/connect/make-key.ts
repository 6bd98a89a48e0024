import { invariant } from "../../../lib/invariant.ts";
import { issueClientKey } from "../../accounts/index.ts";
import type { ConnectParts } from "./connect-parts.ts";
import type { ConnectRequest } from "./connect-request.ts";

const dayMs = 24 * 60 * 60_000;

/** The key that a request was approved for; the program's older one ends. `parts.database` is the transaction. */
export async function makeKey(
  { database, ...parts }: ConnectParts,
  { id, owner, client, terms }: Pick<ConnectRequest, "id" | "owner" | "client" | "terms">,
) {
  invariant(owner !== null, `the request ${id} is nobody's`);
  const now = parts.clock.now();
  return await issueClientKey(database, parts, {
    accountId: owner.accountId,
    client,
    expiresAt: terms.days === null ? null : new Date(now.getTime() + terms.days * dayMs),
    budget: terms.budget === null ? null : { amount: terms.budget, period: "total" },
  });
}
