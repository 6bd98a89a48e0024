import { accountCommands } from "./account-answers.ts";
import { agentsCommands } from "./agents-commands.ts";
import { chatCommand } from "./chat-command.ts";
import { exitCodes } from "./cli-error.ts";
import type { CommandDefinition } from "./command-definition.ts";
import { listenCommand } from "./listen-command.ts";
import { loginCommands } from "./login-commands.ts";
import { mediaCommands } from "./media-commands.ts";
import { tasksCommands } from "./tasks-commands.ts";
import { shells, writeCompletion } from "./write-completion.ts";

const completionCommand: CommandDefinition = {
  name: "completion",
  summary: "Print a completion script for your shell.",
  words: { shown: "<shell>", min: 1, max: 1, choices: shells },
  examples: [
    { line: "source <(sluice completion bash)", does: "bash: add it to ~/.bashrc" },
    { line: "source <(sluice completion zsh)", does: "zsh: add it to ~/.zshrc" },
    { line: "sluice completion fish > ~/.config/fish/completions/sluice.fish", does: "fish" },
  ],
  async run({ words, terminal }) {
    terminal.write(writeCompletion(words[0] ?? "", commandTable));
    return exitCodes.done;
  },
};

/** Every command, in the order of the help. */
export const commandTable: readonly CommandDefinition[] = [
  ...loginCommands,
  ...accountCommands,
  chatCommand,
  ...mediaCommands,
  ...tasksCommands,
  listenCommand,
  ...agentsCommands,
  completionCommand,
];
