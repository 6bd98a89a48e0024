import type { ApiClient } from "./api-client.ts";
import { cleanText } from "./paint.ts";
import { presentMoney } from "./present-money.ts";
import type { ChatAnswer } from "./stream-answer.ts";
import type { Terminal } from "./terminal.ts";

/** A program gets what the model wrote as it is; a terminal gets what cannot steer it. */
export function createTextPrinter(terminal: Terminal): (piece: string) => void {
  if (terminal.isJson) return () => {};
  return (piece) => terminal.write(terminal.isOutputTerminal ? cleanText(piece) : piece);
}

/** What a reader could not know from the answer itself. */
export async function tellAnswerEnd(
  { finish_reason, stopped_by, usage }: ChatAnswer,
  { terminal, api }: { terminal: Terminal; api: ApiClient },
): Promise<void> {
  const { paintError } = terminal;
  if (stopped_by === "insufficient_balance") {
    terminal.tell(paintError.yellow("The answer ends here because the balance is used up."));
  } else if (finish_reason === "length") {
    terminal.tell(paintError.yellow("The answer is cut off at its longest. --max-tokens allows more."));
  }
  if (terminal.isErrorTerminal && usage !== null) {
    const charge = usage.charge === undefined ? "" : ` · cost ${await presentMoney(usage.charge, api)}`;
    terminal.tell(paintError.dim(`${usage.total_tokens} tokens${charge}`));
  }
}
