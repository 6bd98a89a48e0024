import type { AnswerCache } from "../../api/use-answer-cache.ts";

/** Everything that shows money, after some has arrived. */
export async function refreshMoney(answers: AnswerCache): Promise<void> {
  await answers.refresh("balance", "ledger", "checkouts");
}
