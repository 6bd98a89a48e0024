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
  /** Its messages are what every question begins with. */
  ask: ChatAsk;
  terminal: Terminal;
  interruption: Interruption;
};

/** What was said longest ago is forgotten first. */
const messagesMax = 200;

const help = `/model [id]  shows or changes the model
/clear       forgets what was said
/exit        ends, as Ctrl-D does`;

/** Until the person ends it. What they said and heard goes along with every question. */
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
      terminal.tell(paintError.dim("\nCtrl-C again ends, and so does /exit."));
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
    // A question without any answer would be asked again with the next one.
    if (heard.length === 0) said.pop();
    else said.push({ role: "assistant", content: heard.join("") });
    said = said.slice(-messagesMax);
  }

  function obey(command: string): void {
    const [word, name] = command.split(/\s+/);
    if (word === "/clear") said = [];
    else if (word === "/model" && name !== undefined) model = name;
    if (word === "/clear") terminal.tell("What was said is forgotten.");
    else if (word === "/model") terminal.tell(`The model is ${model}.`);
    else terminal.tell(help);
  }

  const release = interruption.take(hit);
  lines.on("SIGINT", hit);
  terminal.tell(paintError.dim(`You talk with ${model}. /help tells what else you can type.`));
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

/** `null` at the end of the input, and when the person ends it. */
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
