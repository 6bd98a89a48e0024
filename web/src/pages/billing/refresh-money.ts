import type { AnswerCache } from "../../api/use-answer-cache.ts";

/** After money arrives, refetches everything that shows money. */
export async function refreshMoney(answers: AnswerCache): Promise<void> {
  await answers.refresh("balance", "ledger", "checkouts");
}
