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
export type RowType<T> = { name: string; columns: readonly Column<T>[] };

/**
 * A PostgreSQL array literal of composite rows; `null` if there are none. Every call writes some 80 columns this way, so
 * the text grows in place: lists of rows and columns to join took twice as long.
 */
export function presentRows<T>({ columns }: RowType<T>, things: readonly T[]): string | null {
  let rows = "";
  for (const thing of things) {
    rows += rows === "" ? '{"(' : ')","(';
    for (let at = 0; at < columns.length; at += 1) {
      if (at > 0) rows += ",";
      rows += presentColumn(columns[at] as Column<T>, thing);
    }
  }
  return rows === "" ? null : `${rows})"}`;
}

function presentColumn<T>(column: Column<T>, thing: T): string | number | bigint | boolean {
  switch (column[1]) {
    case "text": {
      const text = column[2](thing);
      if (text === null) return "";
      return isPlain(text) ? text : quoteInRow(text);
    }
    case "bigint":
    case "smallint":
    case "integer":
    case "boolean":
      return column[2](thing) ?? "";
    case "timestamptz":
      return column[2](thing)?.toISOString() ?? "";
    case "bytea": {
      const bytes = column[2](thing);
      // One backslash, escaped for the row and again for the array.
      return bytes === null ? "" : `\\\\\\\\x${bytes.toString("hex")}`;
    }
    case "text[]":
      return presentList(column[2](thing).map((text) => (isPlain(text) ? text : quoteInList(text))));
    case "bigint[]":
    case "integer[]":
      return presentList(column[2](thing));
  }
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
