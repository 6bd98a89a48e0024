import { type CommandDefinition, commonOptions, type OptionDefinition } from "./command-definition.ts";
import type { Paint } from "./paint.ts";

const operatorNote = `This command line is for users of a Sluice server. Operators use the one in the server's folder:
npm run -s sluice -- help`;

const exitNote =
  "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not signed in, 4 not enough money, 5 the task failed, 130 interrupted.";

export function presentOverview(commands: readonly CommandDefinition[], paint: Paint): string {
  return [
    "Sluice on the command line: chat, images, videos, avatars, dramas and speech.",
    "",
    `${paint.bold("Usage:")} sluice <command>`,
    "",
    ...presentRows(commands.map((command) => [presentUsage(command), command.summary])),
    "",
    "Start with `sluice login`. Every command takes --json for programs and --help for its options and examples.",
    "",
    exitNote,
    "",
    operatorNote,
  ].join("\n");
}

export function presentGroup(name: string, commands: readonly CommandDefinition[], paint: Paint): string {
  return [
    `${paint.bold("Usage:")} sluice ${name} <command>`,
    "",
    ...presentRows(commands.map((command) => [presentUsage(command), command.summary])),
  ].join("\n");
}

/** `group`: the subcommands of this command. */
export function presentCommand(
  command: CommandDefinition,
  paint: Paint,
  group: readonly CommandDefinition[] = [],
): string {
  const options = Object.entries({ ...command.options, ...commonOptions });
  return [
    command.summary,
    ...(command.details === undefined ? [] : ["", command.details]),
    "",
    `${paint.bold("Usage:")} sluice ${presentUsage(command)} [options]`,
    "",
    paint.bold("Options:"),
    ...presentRows(options.map(([name, option]) => [presentOption(name, option), explainOption(option)])),
    "",
    paint.bold("Examples:"),
    ...command.examples.flatMap(({ line, does }) => [`  ${paint.dim(`# ${does}`)}`, `  ${line}`]),
    ...(group.length === 0 ? [] : ["", paint.bold("Commands:")]),
    ...presentRows(group.map((one) => [presentUsage(one), one.summary])),
  ].join("\n");
}

export function presentUsage({ name, words }: CommandDefinition): string {
  return words === undefined ? name : `${name} ${words.shown}`;
}

export function presentOption(name: string, { placeholder, short }: OptionDefinition): string {
  const value = placeholder === undefined ? "" : ` <${placeholder}>`;
  return `${short === undefined ? "" : `-${short}, `}--${name}${value}`;
}

export function explainOption({ explains, choices, isList }: OptionDefinition): string {
  return [
    explains,
    ...(choices === undefined ? [] : [`One of ${choices.join(", ")}.`]),
    ...(isList === undefined ? [] : ["Repeatable."]),
  ].join(" ");
}

const leftColumnMax = 30;

/** Wraps the right column if the left one is too wide. */
function presentRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(leftColumnMax, Math.max(...rows.map(([left]) => left.length))) + 2;
  return rows.flatMap(([left, right]) =>
    left.length + 2 > width ? [`  ${left}`, `  ${"".padEnd(width)}${right}`] : [`  ${left.padEnd(width)}${right}`],
  );
}
