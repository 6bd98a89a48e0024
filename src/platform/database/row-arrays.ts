/** The values of a composite type's columns, by their SQL types. */
type ColumnValues = {
  text: string | null;
  bigint: bigint | null;
  smallint: number | null;
  integer: number | null;
  boolean: boolean;
  timestamptz: Date | null;
  bytea: Buffer | null;
  "text[]": readonly string[];
  "bigint[]": readonly bigint[];
  "integer[]": readonly number[];
};

type Column<T> = {
  [Type in keyof ColumnValues]: readonly [name: string, type: Type, getValue: (thing: T) => ColumnValues[Type]];
}[keyof ColumnValues];

/** A composite type and how to make a row of it; the columns are in the type's order. */
export type RowType<T> = {
  name: string;
  columns: readonly Column<T>[];
  /** Writes one column each. */
  writers: readonly ColumnWriter<T>[];
};

type ColumnWriter<T> = (thing: T) => string | number | bigint | boolean;

export function createRowType<T>(name: string, columns: readonly Column<T>[]): RowType<T> {
  return { name, columns, writers: columns.map(createWriter) };
}

/**
 * A PostgreSQL array literal of composite rows; `null` if there are none. Every call writes some 50 columns this way, so
 * the text grows in place: lists of rows and columns to join took twice as long.
 */
export function presentRows<T>({ writers }: RowType<T>, things: readonly T[]): string | null {
  let rows = "";
  for (const thing of things) {
    rows += rows === "" ? '{"(' : ')","(';
    for (let at = 0; at < writers.length; at += 1) {
      if (at > 0) rows += ",";
      rows += (writers[at] as ColumnWriter<T>)(thing);
    }
  }
  return rows === "" ? null : `${rows})"}`;
}

function createWriter<T>(column: Column<T>): ColumnWriter<T> {
  switch (column[1]) {
    case "text":
      return rememberLast(column[2], isSame, presentText);
    case "bigint":
    case "smallint":
    case "integer":
    case "boolean": {
      const [, , getValue] = column;
      return (thing) => getValue(thing) ?? "";
    }
    case "timestamptz":
      return rememberLast(column[2], isSameTime, (time) => time?.toISOString() ?? "");
    case "bytea": {
      const [, , getValue] = column;
      // One backslash, escaped for the row and again for the array.
      return (thing) => {
        const bytes = getValue(thing);
        return bytes === null ? "" : `\\\\\\\\x${bytes.toString("hex")}`;
      };
    }
    case "text[]":
      return rememberLast(column[2], areSame, presentTextList);
    case "bigint[]":
    case "integer[]":
      return rememberLast<T, readonly (bigint | number)[]>(column[2], areSame, presentList);
  }
}

/** Most columns have the value of the row before: comparing takes less than checking and converting it again. */
function rememberLast<T, V>(
  getValue: (thing: T) => V,
  isSameAs: (one: V, other: V) => boolean,
  present: (value: V) => string,
): (thing: T) => string {
  let last: { value: V; text: string } | null = null;
  return (thing) => {
    const value = getValue(thing);
    if (last === null || !isSameAs(value, last.value)) last = { value, text: present(value) };
    return last.text;
  };
}

function isSame(one: string | null, other: string | null): boolean {
  return one === other;
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

function areSame<V>(some: readonly V[], others: readonly V[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false;
  return true;
}

function presentText(text: string | null): string {
  if (text === null) return "";
  return isPlain(text) ? text : quoteInRow(text);
}

function presentTextList(texts: readonly string[]): string {
  return presentList(texts.map((text) => (isPlain(text) ? text : quoteInList(text))));
}

function presentList(values: readonly (string | bigint | number)[]): string {
  return `\\"{${values.join()}}\\"`;
}

const plainCharacters = /^[\w.:/@+-]+$/;

/** Whether a text needs no quotes. `null` does in a list. */
function isPlain(text: string): boolean {
  return plainCharacters.test(text) && !(text.length === 4 && text.toLowerCase() === "null");
}

/** An array literal of texts. */
export function presentTexts(texts: readonly string[]): string {
  return `{${texts.map(quote).join()}}`;
}

function quote(text: string): string {
  return `"${escapeQuotes(text)}"`;
}

const escaped = /["\\]/;

function escapeQuotes(text: string): string {
  return text.replaceAll(/["\\]/g, "\\$&");
}

/** Quoted for the row, escaped for the array. */
function quoteInRow(text: string): string {
  return escaped.test(text) ? escapeQuotes(quote(text)) : `\\"${text}\\"`;
}

/** Quoted for the list, escaped for the row and again for the array. */
function quoteInList(text: string): string {
  return escapeQuotes(escapeQuotes(quote(text)));
}
