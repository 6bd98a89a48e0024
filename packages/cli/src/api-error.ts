import { CliError, type ExitCode, exitCodes } from "./cli-error.ts";

/** An error response of the server. */
export class ApiError extends CliError {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly requestId: string | null;

  constructor(told: { status: number; code: string; message: string; param: string | null; requestId: string | null }) {
    const remedy = remediesByCode[told.code];
    super(told.message, { exitCode: chooseExitCode(told.status), ...(remedy === undefined ? {} : { remedy }) });
    this.name = "ApiError";
    this.status = told.status;
    this.code = told.code;
    this.param = told.param;
    this.requestId = told.requestId;
  }
}

function chooseExitCode(status: number): ExitCode {
  if (status === 401) return exitCodes.notSignedIn;
  return status === 402 ? exitCodes.notEnoughMoney : exitCodes.failed;
}

const signInAgain = "Sign in again: sluice login";

const remediesByCode: Readonly<Record<string, string>> = {
  missing_api_key: signInAgain,
  invalid_api_key: signInAgain,
  revoked_api_key: signInAgain,
  expired_api_key: signInAgain,
  insufficient_balance: "See your balance: sluice balance. Add credit in the console.",
  key_budget_exceeded: "The key's budget is used up. Raise it in the console, or sign in again.",
  key_not_permitted: "The key does not permit this. Change its access in the console.",
  model_unavailable: "List the models: sluice models",
  webhook_required:
    "Let the command wait (--wait), keep `sluice webhooks listen` open in another terminal, or give --callback-url.",
  endpoint_not_released: "The operator has disabled this endpoint.",
};

/** Parses an error response; unknown formats are reported by status. */
export function readApiError(status: number, text: string, requestId: string | null): ApiError {
  const error = readErrorBody(text);
  const told = { status, code: error?.code ?? `http_${status}`, param: error?.param ?? null, requestId };
  const message = error?.message ?? `The server returned status ${status} without a Sluice error.`;
  return new ApiError({ ...told, message });
}

function readErrorBody(text: string): { message: string; code: string; param: string | null } | null {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown; param?: unknown } };
    if (typeof error?.message !== "string") return null;
    const param = typeof error.param === "string" ? error.param : null;
    return { message: error.message, code: typeof error.code === "string" ? error.code : "unknown", param };
  } catch {
    // A proxy's page, or an empty body.
    return null;
  }
}
