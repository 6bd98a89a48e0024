import type { Command } from "./command.ts";

const start = "npm run -s sluice --";

export function presentHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => presentUsage(command).length)) + 2;
  return [
    "Sluice, an AI gateway.",
    "",
    `Usage: ${start} <command>`,
    "",
    ...commands.map((command) => `  ${presentUsage(command).padEnd(width)}${command.summary}`),
    "",
    "Every command takes --json for scripts and --help for its options.",
  ].join("\n");
}

export function presentCommandHelp(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(([name, { placeholder, explains, isRequired }]) => {
    const flag = `--${name} <${placeholder}>`.padEnd(26);
    return `  ${flag}${explains}${isRequired === true ? " (required)" : ""}`;
  });
  return [
    command.summary,
    "",
    `Usage: ${start} ${presentUsage(command)}`,
    ...(options.length === 0 ? [] : ["", ...options]),
    `  ${"--json".padEnd(26)}Prints JSON for scripts.`,
  ].join("\n");
}

function presentUsage({ name, positionals = [], options = {} }: Command): string {
  const required = Object.entries(options).filter(([, option]) => option.isRequired === true);
  const flags = required.map(([flag, option]) => `--${flag} <${option.placeholder}>`);
  return [name, ...positionals.map((positional) => `<${positional}>`), ...flags].join(" ");
}
