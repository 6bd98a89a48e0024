import type { ExitCode } from "./cli-error.ts";
import type { Environment } from "./environment.ts";
import type { Interruption } from "./interruption.ts";
import type { Terminal } from "./terminal.ts";

/** One command. The table of them is what is parsed, the help, the completion and the reference. */
export type CommandDefinition = {
  /** The words that call it, such as `tasks cancel`. */
  name: string;
  summary: string;
  /** What its own help says beyond the summary. */
  details?: string;
  /** What comes after the command. */
  words?: WordRule;
  options?: OptionTable;
  /** What people would type, each with a word on what it does. */
  examples: readonly { line: string; does: string }[];
  run(input: CommandInput): Promise<ExitCode>;
};

type WordRule = {
  /** As the usage line has it. */
  shown: string;
  min: number;
  max: number;
  choices?: readonly string[];
};

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

export type OptionDefinition = {
  explains: string;
  /** Stands for what is written after it; an option without one is a switch. */
  placeholder?: string;
  choices?: readonly string[];
  /** Can be given several times. */
  isList?: true;
  short?: string;
};

/** What was given on the command line, read as what the command takes it for. */
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

/** What every command takes. */
export const commonOptions = {
  json: { explains: "Print only JSON to standard output." },
  site: {
    placeholder: "url",
    explains: "The server. Default: the one you signed in to last.",
  },
  help: { short: "h", explains: "Show this help." },
} as const satisfies OptionTable;
