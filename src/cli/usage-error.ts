/** An unknown command or wrong arguments, with the fix. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
