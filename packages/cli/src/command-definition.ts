import type { ExitCode } from "./cli-error.ts";
import type { Environment } from "./environment.ts";
import type { Interruption } from "./interruption.ts";
import type { Terminal } from "./terminal.ts";

/** One command. The parser, the help, the shell completion and the reference all read the table of these. */
export type CommandDefinition = {
  /** The words that call it, such as `tasks cancel`. */
  name: string;
  summary: string;
  /** Shown below the summary in the command's own help. */
  details?: string;
  /** The positional arguments. */
  words?: WordRule;
  options?: OptionTable;
  /** Sample command lines, each with a short comment. */
  examples: readonly { line: string; does: string }[];
  run(input: CommandInput): Promise<ExitCode>;
};

type WordRule = {
  /** As shown in the usage line. */
  shown: string;
  min: number;
  max: number;
  choices?: readonly string[];
};

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

export type OptionDefinition = {
  explains: string;
  /** Names the value in the help; an option without a placeholder is a switch. */
  placeholder?: string;
  choices?: readonly string[];
  /** Can be given several times. */
  isList?: true;
  short?: string;
};

/** The parsed options, read by type. */
export type Options = {
  has(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
  integer(name: string): number | undefined;
  number(name: string): number | undefined;
};

export type CommandInput = {
  words: readonly string[];
  options: Options;
  terminal: Terminal;
  environment: Environment;
  interruption: Interruption;
};

/** Accepted by every command. */
export const commonOptions = {
  json: { explains: "Print only JSON to standard output." },
  site: {
    placeholder: "url",
    explains: "The server. Default: the one you signed in to last.",
  },
  help: { short: "h", explains: "Show this help." },
} as const satisfies OptionTable;
