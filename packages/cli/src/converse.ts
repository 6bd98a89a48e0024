import { createInterface, type Interface } from "node:readline/promises";
import type { ApiClient } from "./api-client.ts";
import { CliError, type ExitCode, exitCodes } from "./cli-error.ts";
import type { Interruption } from "./interruption.ts";
import { cleanText } from "./paint.ts";
import { createTextPrinter, tellAnswerEnd } from "./show-answer.ts";
import { type ChatAsk, type ChatMessage, streamAnswer } from "./stream-answer.ts";
import type { Terminal } from "./terminal.ts";

type Conversation = {
  api: ApiClient;
  /** Its messages precede the conversation in every request. */
  ask: ChatAsk;
  terminal: Terminal;
  interruption: Interruption;
};

/** The oldest messages are dropped first. */
const messagesMax = 200;

const help = `/model [id]  show or change the model
/clear       clear the history
/exit        leave (or press Ctrl-D)`;

/** Runs until the user leaves. Every request carries the conversation so far. */
export async function converse({ api, ask, terminal, interruption }: Conversation): Promise<ExitCode> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const { paintError } = terminal;
  let { model } = ask;
  let said: ChatMessage[] = [];
  let answering: AbortController | null = null;
  let isWarned = false;
  const ended = new AbortController();

  function hit(): void {
    if (answering !== null) answering.abort();
    else if (isWarned) ended.abort();
    else {
      isWarned = true;
      terminal.tell(paintError.dim("\nPress Ctrl-C again or type /exit to leave."));
      lines.prompt(true);
    }
  }

  async function answer(question: string): Promise<void> {
    said.push({ role: "user", content: question });
    answering = new AbortController();
    const heard: string[] = [];
    const print = createTextPrinter(terminal);
    const onText = (piece: string): void => {
      heard.push(piece);
      print(piece);
    };
    try {
      const messages = [...ask.messages, ...said];
      const whole = await streamAnswer(api, { ...ask, model, messages }, { onText, signal: answering.signal });
      terminal.print("");
      await tellAnswerEnd(whole, { terminal, api });
    } catch (error) {
      terminal.print("");
      if (answering.signal.aborted) terminal.tell(paintError.dim("Stopped."));
      else if (error instanceof CliError) terminal.complain(`${paintError.red("✗")} ${cleanText(error.message)}`);
      else throw error;
    } finally {
      answering = null;
    }
    // Drop a question without an answer, or the next request would send it again.
    if (heard.length === 0) said.pop();
    else said.push({ role: "assistant", content: heard.join("") });
    said = said.slice(-messagesMax);
  }

  function obey(command: string): void {
    const [word, name] = command.split(/\s+/);
    if (word === "/clear") said = [];
    else if (word === "/model" && name !== undefined) model = name;
    if (word === "/clear") terminal.tell("History cleared.");
    else if (word === "/model") terminal.tell(`The model is ${model}.`);
    else terminal.tell(help);
  }

  const release = interruption.take(hit);
  lines.on("SIGINT", hit);
  terminal.tell(paintError.dim(`Chatting with ${model}. Type /help for commands.`));
  try {
    for (;;) {
      const line = await askLine(lines, ended.signal);
      if (line === null || line === "/exit") return ended.signal.aborted ? exitCodes.interrupted : exitCodes.done;
      isWarned = false;
      if (line.startsWith("/")) obey(line);
      else if (line !== "") await answer(line);
    }
  } finally {
    release();
    lines.close();
  }
}

/** `null` at the end of the input, or when the user leaves. */
async function askLine(lines: Interface, signal: AbortSignal): Promise<string | null> {
  const closed = new AbortController();
  const close = (): void => closed.abort();
  lines.once("close", close);
  try {
    return (await lines.question("> ", { signal: AbortSignal.any([signal, closed.signal]) })).trim();
  } catch (error) {
    if (signal.aborted || closed.signal.aborted) return null;
    throw error;
  } finally {
    lines.off("close", close);
  }
}
