/** Exit codes. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  misused: 2,
  notSignedIn: 3,
  notEnoughMoney: 4,
  taskFailed: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error with an exit code and, if there is one, the fix. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** The command or setting that fixes it. */
  readonly remedy: string | null;

  constructor(message: string, options: { exitCode?: ExitCode; remedy?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "CliError";
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.remedy = options.remedy ?? null;
  }
}

export function createMisuse(message: string): CliError {
  return new CliError(message, { exitCode: exitCodes.misused });
}
