import type { ErrorCode } from "./error-table.ts";

type AppErrorOptions = {
  /** The field, query parameter or header at fault. */
  param?: string;
  /** Response headers that belong to this error, such as `allow`. */
  headers?: Record<string, string>;
  /** For the log only; never sent. */
  detail?: Record<string, unknown>;
  cause?: unknown;
};

/** Ends a request with an error from the table. The message is sent to the caller. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly headers: Record<string, string>;
  readonly detail: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
    this.detail = options.detail;
  }
}
