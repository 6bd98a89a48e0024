export type MediaToolErrorKind = "failed" | "timeout" | "too-much-output";

/** A media tool failed. `detail` quotes its output and may contain file names: for logs only. */
export class MediaToolError extends Error {
  override readonly name = "MediaToolError";
  readonly kind: MediaToolErrorKind;
  readonly detail: Record<string, unknown> | undefined;

  constructor(
    kind: MediaToolErrorKind,
    message: string,
    options: { detail?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.detail = options.detail;
  }
}
