import type { Command, CommandOption } from "./command.ts";

const start = "npm run -s sluice --";

/** The full command line, run in the server's folder. */
export function callCommand(words: string): string {
  return `${start} ${words}`;
}

const exitCodeNote = "Exit codes: 0 success, 1 failure or problems found, 2 unknown command or invalid arguments.";

export function presentHelp(commands: readonly Command[]): string {
  return [
    "Sluice, an AI gateway.",
    "",
    `Usage: ${start} <command>`,
    "",
    ...presentSummaries(commands),
    "",
    "Every command accepts --json and --help. help <word> lists the commands that begin with a word.",
    exitCodeNote,
  ].join("\n");
}

export function presentGroupHelp(word: string, commands: readonly Command[]): string {
  return [
    `Usage: ${start} ${word} <command>`,
    "",
    ...presentSummaries(commands),
    "",
    "Every command accepts --help.",
  ].join("\n");
}

function presentSummaries(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map((command) => presentUsage(command).length)) + 2;
  return commands.map((command) => `  ${presentUsage(command).padEnd(width)}${command.summary}`);
}

export function presentCommandHelp(command: Command): string {
  const options = Object.entries(command.options ?? {});
  const rows = [
    ...options.map(([name, { description, isRequired, ...option }]) => ({
      flag: presentFlag(name, option),
      description: `${description}${isRequired === true ? " (required)" : ""}`,
    })),
    { flag: "--json", description: "Print JSON." },
  ];
  const width = Math.max(...rows.map(({ flag }) => flag.length)) + 2;
  return [
    command.summary,
    "",
    `Usage: ${start} ${presentUsage(command)}`,
    "",
    ...rows.map(({ flag, description }) => `  ${flag.padEnd(width)}${description}`),
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
