import type { AccountId } from "../../lib/ids.ts";

/** What can change under the eyes of somebody who looks at an account: what it has, and the site around it. */
export const changeKinds = ["balance", "tasks", "deliveries", "keys", "requests", "site"] as const;
export type ChangeKind = (typeof changeKinds)[number];

export type AccountChange = { accountId: AccountId; kinds: readonly ChangeKind[] };
