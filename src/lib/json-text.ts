import type { JsonShape } from "./json-shape.ts";

/**
 * The text that an object was parsed from, so that the parts of it that stay the same are copied instead of written
 * again. It is a property of the object, under a symbol: copies by spread keep it, and `JSON.stringify` ignores it.
 */
const textOf = Symbol("the text of parsed JSON");

type JsonText = {
  /** `null` once it is forgotten. */
  bytes: Buffer | null;
  fields: ReadonlyMap<string, TextField>;
  /** The names in the text, each as often as it occurs. */
  names: number;
  /** Whether the text means the same as the object to every parser. */
  isExact: boolean;
};

/** Where a field and its value are, and what was parsed from it. */
type TextField = { nameAt: number; end: number; value: unknown };

type Holder = { [textOf]?: JsonText | undefined };

/** The structure of an object's text. */
export type JsonOutline = {
  /** The positions of the outermost `{`, then of each `:` and `,` in turn, then of the `}`. */
  marks: readonly number[];
  /** The number of `:` outside strings. */
  names: number;
};

/** Keeps the text that an object was parsed from. The outline must be of the same text. */
export function keepText(parsed: object, bytes: Buffer, { marks, names }: JsonOutline): void {
  const fields = new Map<string, TextField>();
  for (let index = 0; index + 2 < marks.length; index += 2) {
    const [before = 0, colon = 0, end = 0] = marks.slice(index, index + 3);
    const name = String(JSON.parse(bytes.toString("utf8", before + 1, colon)));
    fields.set(name, { nameAt: before + 1, end, value: (parsed as Readonly<Record<string, unknown>>)[name] });
  }
  (parsed as Holder)[textOf] = { bytes, fields, names, isExact: false };
}

/**
 * Allows the text to be copied, if it means the same to every parser: a name may occur twice, and parsers differ in which
 * value they take. `shape` is that of the object as it was parsed.
 */
export function confirmText(parsed: object, { names, hasInfinities }: JsonShape): void {
  const text = (parsed as Holder)[textOf];
  if (text !== undefined) text.isExact = text.names === names && !hasInfinities;
}

/** For a change inside a field's value, and to release memory. Fields themselves may be added, replaced and deleted. */
export function forgetText(parsed: object): void {
  const text = (parsed as Holder)[textOf];
  if (text !== undefined) text.bytes = null;
}

/** Gives an object that has values of another the text of the other. */
export function shareText(from: object, to: object): void {
  (to as Holder)[textOf] = (from as Holder)[textOf];
}

/** Writes an object as JSON. Fields with the value that was parsed are copied from the text, byte for byte. */
export function writeObject(record: Readonly<Record<string, unknown>>): string | Buffer {
  const text = (record as Holder)[textOf];
  if (text === undefined || !text.isExact || text.bytes === null) return JSON.stringify(record);
  const { bytes, fields } = text;
  const parts: Buffer[] = [];
  let separator = "{";
  /** The end of the part that was copied last, if the next field may continue it. */
  let copied = { from: 0, to: -1 };
  for (const name in record) {
    const value = record[name];
    if (value === undefined) continue;
    const field = fields.get(name);
    if (field !== undefined && field.value === value) {
      if (field.nameAt === copied.to + 1) {
        parts.pop();
        copied = { from: copied.from, to: field.end };
      } else {
        parts.push(Buffer.from(separator));
        copied = { from: field.nameAt, to: field.end };
      }
      parts.push(bytes.subarray(copied.from, copied.to));
    } else {
      parts.push(Buffer.from(`${separator}${JSON.stringify(name)}:${JSON.stringify(value)}`));
      copied = { from: 0, to: -1 };
    }
    separator = ",";
  }
  parts.push(Buffer.from(separator === "{" ? "{}" : "}"));
  return Buffer.concat(parts);
}
