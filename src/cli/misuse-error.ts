/** What was typed is no command, or not how one is called; and what to type instead. */
export class MisuseError extends Error {
  override readonly name = "MisuseError";
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}
