const noNames: ReadonlySet<string> = new Set();

/** What one walk over parsed JSON finds. Values are added one by one, so that an error can name the field. */
export class JsonShape {
  /** A value is nested deeper than allowed. Deeper nesting could overflow a stack, here or at an upstream. */
  isTooDeep = false;
  /** A field is `null`, other than those that may be. */
  hasNulls = false;
  /** A number exceeds a double: `JSON.stringify` writes it as `null`. */
  hasInfinities = false;
  /** The names of all objects, each as often as it occurs. */
  names = 0;
  private readonly nullable: ReadonlySet<string>;

  constructor(nullable = noNames) {
    this.nullable = nullable;
  }

  /** Recurses at most `levels` deep. */
  add(value: unknown, levels: number): void {
    if (typeof value === "object") {
      if (value !== null) this.walk(value, levels);
    } else if (typeof value === "number") this.addNumber(value);
  }

  private addNumber(value: number): void {
    if (!Number.isFinite(value)) this.hasInfinities = true;
  }

  /** Most values are strings: they cost no call. */
  private walk(value: object, levels: number): void {
    if (levels === 0) {
      this.isTooDeep = true;
      return;
    }
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        if (typeof value[index] !== "string") this.add(value[index], levels - 1);
      }
      return;
    }
    const record = value as Readonly<Record<string, unknown>>;
    for (const name in record) {
      this.names += 1;
      const inner = record[name];
      if (typeof inner === "string") continue;
      if (inner === null) {
        if (!this.nullable.has(name)) this.hasNulls = true;
      } else this.add(inner, levels - 1);
    }
  }
}
