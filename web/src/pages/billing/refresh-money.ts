import type { QueryCacheActions } from "../../api/use-query-cache.ts";

/** After money arrives, refetches everything that shows money. */
export async function refreshMoney(answers: QueryCacheActions): Promise<void> {
  await answers.refresh("balance", "ledger", "checkouts", "documents", "topUps");
}
