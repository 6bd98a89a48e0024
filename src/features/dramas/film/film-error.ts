/** Assembling a film failed. The detail quotes tools and paths: for logs only. */
export class FilmError extends Error {
  override readonly name = "FilmError";
  /** The index of the shot at fault; `null` if none is. */
  readonly shot: number | null;
  readonly detail: Record<string, unknown> | undefined;

  constructor(
    message: string,
    options: { shot?: number; detail?: Record<string, unknown> | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.shot = options.shot ?? null;
    this.detail = options.detail;
  }
}
