import { chooseModel } from "./choose-model.ts";
import { type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { converse } from "./converse.ts";
import { openApi } from "./open-api.ts";
import { createTextPrinter, tellAnswerEnd } from "./show-answer.ts";
import { type ChatAsk, type ChatMessage, streamAnswer } from "./stream-answer.ts";

export const chatCommand: CommandDefinition = {
  name: "chat",
  summary: "Send a message to a model, or start a conversation.",
  details: `The answer streams to the terminal. Ctrl-C stops it, and you pay only for the tokens generated so far. At the prompt,
press Ctrl-C twice to leave. In a conversation, /model changes the model, /clear clears the history and /exit leaves.
Use - to insert standard input. Without a message, a pipe on standard input is the message.`,
  words: { shown: "[message…]", min: 0, max: Number.POSITIVE_INFINITY },
  options: {
    model: { placeholder: "id", short: "m", explains: "The model. Default: the first chat model." },
    system: { placeholder: "text", explains: "The system message." },
    temperature: { placeholder: "number", explains: "The sampling temperature." },
    "max-tokens": { placeholder: "count", explains: "The maximum number of output tokens." },
  },
  examples: [
    { line: 'sluice chat "What is a sluice?"', does: "one question" },
    { line: "sluice chat", does: "a conversation" },
    { line: 'git diff | sluice chat "Write a commit message for this:" -', does: "with piped input" },
  ],
  run: chat,
};

async function chat(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  const isConversation = input.words.length === 0 && terminal.isInputTerminal && !terminal.isJson;
  const message = isConversation ? "" : await readMessage(input);
  const temperature = options.number("temperature");
  const longest = options.integer("max-tokens");
  const { api } = await openApi(input);
  const { signal } = interruption;
  const system = options.text("system");
  const ask: ChatAsk = {
    model: await chooseModel(api, { given: options.text("model"), type: "chat", signal }),
    messages: system === undefined ? [] : [{ role: "system", content: system }],
    ...(temperature === undefined ? {} : { temperature }),
    ...(longest === undefined ? {} : { max_completion_tokens: longest }),
  };
  if (isConversation) return await converse({ api, ask, terminal, interruption });
  const messages: ChatMessage[] = [...ask.messages, { role: "user", content: message }];
  const onText = createTextPrinter(terminal);
  const answer = await streamAnswer(api, { ...ask, messages }, { onText, signal });
  if (terminal.isJson) terminal.printJson(answer);
  else if (!answer.content.endsWith("\n")) terminal.print("");
  await tellAnswerEnd(answer, { terminal, api });
  return answer.stopped_by === "insufficient_balance" ? exitCodes.notEnoughMoney : exitCodes.done;
}

async function readMessage({ words, terminal }: CommandInput): Promise<string> {
  const needsInput = words.length === 0 || words.includes("-");
  const given = needsInput ? await terminal.readInput() : "";
  return words.length === 0 ? given : words.map((word) => (word === "-" ? `\n\n${given}` : word)).join(" ");
}
