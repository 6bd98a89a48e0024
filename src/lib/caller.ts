import type { KeyBudget } from "./budget.ts";
import type { AccountId, KeyId } from "./ids.ts";
import type { LimitSet } from "./limit-set.ts";

/** Who calls, and what they may do: known once for each request, read by whoever decides something about it. */
export type Caller = {
  accountId: AccountId;
  keyId: KeyId;
  /** The first of the keys that this one goes back to by rotations: what is counted of a key is counted of its line. */
  lineageId: KeyId;
  planId: string | null;
  /** The models that the key is limited to; `null` means all that the account may use. */
  modelIds: ReadonlySet<string> | null;
  /** The most that the key may spend; `null` means as much as the account has. */
  budget: KeyBudget | null;
  accountLimits: LimitSet;
  keyLimits: Partial<LimitSet>;
  /** Whether the bodies of its calls and of their answers are kept. */
  logsContent: boolean;
};
