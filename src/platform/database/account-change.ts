import type { AccountId } from "../../lib/ids.ts";

/** The kinds of changes that open console pages of an account are notified about. */
export const changeKinds = ["balance", "tasks", "deliveries", "keys", "requests", "site"] as const;
export type ChangeKind = (typeof changeKinds)[number];

export type AccountChange = { accountId: AccountId; kinds: readonly ChangeKind[] };
