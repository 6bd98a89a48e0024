/** Stops a command with a sentence for the person who runs Sluice, and what they can do about it. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  readonly remedy: string;

  constructor(message: string, remedy: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.remedy = remedy;
  }
}
