import type { AdminCommands } from "../features/admin/index.ts";
import type { NewAuditEntry } from "../features/audit/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Database, DatabaseAddress } from "../platform/database/database.ts";

/** A command. Help texts and the argument parser derive from it. */
export type Command = {
  /** Such as `key create`. */
  name: string;
  summary: string;
  /** Names of the arguments, all required. */
  positionals?: readonly string[];
  options?: Readonly<Record<string, CommandOption>>;
  run(input: CommandInput): Promise<CommandResult>;
};

/** Without a placeholder it is a flag. */
export type CommandOption = { description: string; placeholder: string | null; isRequired?: true };

type CommandInput = {
  positionals: readonly string[];
  options: Readonly<Record<string, string | undefined>>;
  terminal: Terminal;
};

/** Text for people, JSON for scripts; `null` if the command has printed its output itself. */
export type CommandResult = { text: string; json: unknown; hasFailed?: true } | null;

export type Terminal = CommandEnvironment & {
  isJson: boolean;
  /** Written to the audit log before the command's work begins; `null` if it changes nothing or writes its own. */
  auditEntry: NewAuditEntry | null;
};

/** The gateway in which a command of a remote caller runs. */
export type CommandHost = { database: Database; settings: Settings; address: DatabaseAddress };

/** The process that runs the command. */
export type CommandEnvironment = {
  /** Default: the process's environment and working directory. */
  settingsPlace?: { environment: NodeJS.ProcessEnv; directory: string };
  /** Default: the command opens the database itself. */
  host?: CommandHost;
  /** The commands that a gateway runs for remote callers. Loaded only by the gateway. */
  loadAdminCommands?: () => Promise<AdminCommands>;
  /** Secrets may be printed to a terminal, but not to a pipe or log. */
  isTerminal: boolean;
  print(text: string): void;
  /** Progress and hints, to standard error. */
  printNote(text: string): void;
  readInput(): Promise<string>;
};
