/** One command: the table of them is the help text, and what is parsed. */
export type Command = {
  /** The words that call it, such as `key create`. */
  name: string;
  summary: string;
  /** Names of the words after the command, all of them required. */
  positionals?: readonly string[];
  options?: Readonly<Record<string, CommandOption>>;
  run(input: CommandInput): Promise<CommandResult>;
};

/** Without a placeholder it takes no value: it is there or not. */
export type CommandOption = { explains: string; placeholder: string | null; isRequired?: true };

type CommandInput = {
  positionals: readonly string[];
  options: Readonly<Record<string, string | undefined>>;
  terminal: Terminal;
};

/** What a command has to say: for people as lines, for scripts as JSON. `null` when it has said everything itself. */
export type CommandResult = { text: string; json: unknown; hasFailed?: true } | null;

export type Terminal = CommandSurroundings & { isJson: boolean };

/** What a command has of the process that runs it. */
export type CommandSurroundings = {
  /** Where settings are looked for; without it: in the process's environment and directory. */
  settingsPlace?: { environment: NodeJS.ProcessEnv; directory: string };
  /** Whether a person reads standard output, so that secrets may go there. */
  isTerminal: boolean;
  print(text: string): void;
  /** For what is not the result: progress and hints. */
  tell(text: string): void;
  readInput(): Promise<string>;
};
