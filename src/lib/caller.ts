import type { KeyBudget } from "./budget.ts";
import type { AccountId, KeyId } from "./ids.ts";
import type { LimitSet } from "./limit-set.ts";

/** The authenticated caller with its limits and permissions, resolved once per request. */
export type Caller = {
  accountId: AccountId;
  keyId: KeyId;
  /** The first key of the rotation lineage. Usage is counted per lineage. */
  lineageId: KeyId;
  planId: string | null;
  /** The models the key may use; `null`: all models of the account. */
  modelIds: ReadonlySet<string> | null;
  /** The key's budget; `null`: limited only by the account's balance. */
  budget: KeyBudget | null;
  accountLimits: LimitSet;
  keyLimits: Partial<LimitSet>;
  /** Whether request and response bodies are logged. */
  logsContent: boolean;
  /** A new account that has spent its daily maximum makes no paid calls until then. */
  spendCappedUntil?: Date | null;
  /** The console's own key: its user watches the page. */
  isConsole?: boolean;
};
