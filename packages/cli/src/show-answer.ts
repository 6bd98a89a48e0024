import type { ApiClient } from "./api-client.ts";
import { cleanText } from "./paint.ts";
import { presentMoney } from "./present-money.ts";
import type { ChatAnswer } from "./stream-answer.ts";
import type { Terminal } from "./terminal.ts";

/** Strips control characters on a terminal only. */
export function createTextPrinter(terminal: Terminal): (piece: string) => void {
  if (terminal.isJson) return () => {};
  return (piece) => terminal.write(terminal.isOutputTerminal ? cleanText(piece) : piece);
}

/** Prints why the answer was cut off, its tokens and its cost. */
export async function tellAnswerEnd(
  { finish_reason, stopped_by, usage }: ChatAnswer,
  { terminal, api }: { terminal: Terminal; api: ApiClient },
): Promise<void> {
  const { paintError } = terminal;
  if (stopped_by === "insufficient_balance") {
    terminal.tell(paintError.yellow("The answer stopped because your balance is used up. Add credit in the console."));
  } else if (finish_reason === "length") {
    terminal.tell(paintError.yellow("The answer reached the output limit. Raise it with --max-tokens."));
  }
  if (terminal.isErrorTerminal && usage !== null) {
    const charge = usage.charge === undefined ? "" : ` · cost ${await presentMoney(usage.charge, api)}`;
    terminal.tell(paintError.dim(`${usage.total_tokens} tokens${charge}`));
  }
}
