/** Stops a command with a message for the operator and the fix. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly remedy: string;

  constructor(message: string, remedy: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.remedy = remedy;
  }
}
