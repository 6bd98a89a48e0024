import type { Command, CommandOption } from "./command.ts";

const start = "npm run -s sluice --";

/** How a command is called from where the server lies. */
export function callCommand(words: string): string {
  return `${start} ${words}`;
}

/** What ends how; scripts rely on it. */
const exitCodeNote =
  "Exit codes: 0 done, 1 failed or found something wrong, 2 no such command or option, or one that is missing.";

export function presentHelp(commands: readonly Command[]): string {
  return [
    "Sluice, an AI gateway.",
    "",
    `Usage: ${start} <command>`,
    "",
    ...presentSummaries(commands),
    "",
    "Every command takes --json for scripts and --help for its options; help <word> lists those that begin with it.",
    exitCodeNote,
  ].join("\n");
}

export function presentGroupHelp(word: string, commands: readonly Command[]): string {
  return [
    `Usage: ${start} ${word} <command>`,
    "",
    ...presentSummaries(commands),
    "",
    "Each takes --help for its options.",
  ].join("\n");
}

function presentSummaries(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map((command) => presentUsage(command).length)) + 2;
  return commands.map((command) => `  ${presentUsage(command).padEnd(width)}${command.summary}`);
}

export function presentCommandHelp(command: Command): string {
  const options = Object.entries(command.options ?? {});
  const rows = [
    ...options.map(([name, { explains, isRequired, ...option }]) => ({
      flag: presentFlag(name, option),
      explains: `${explains}${isRequired === true ? " (required)" : ""}`,
    })),
    { flag: "--json", explains: "Prints JSON for scripts." },
  ];
  const width = Math.max(...rows.map(({ flag }) => flag.length)) + 2;
  return [
    command.summary,
    "",
    `Usage: ${start} ${presentUsage(command)}`,
    "",
    ...rows.map(({ flag, explains }) => `  ${flag.padEnd(width)}${explains}`),
  ].join("\n");
}

export function presentFlag(name: string, { placeholder }: Pick<CommandOption, "placeholder">): string {
  return placeholder === null ? `--${name}` : `--${name} <${placeholder}>`;
}

export function presentUsage({ name, positionals = [], options = {} }: Command): string {
  const required = Object.entries(options).filter(([, option]) => option.isRequired === true);
  const flags = required.map(([flag, option]) => presentFlag(flag, option));
  return [name, ...positionals.map((positional) => `<${positional}>`), ...flags].join(" ");
}
