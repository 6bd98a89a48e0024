/** The values of a composite type's columns, by their SQL types. */
type ColumnValues = {
  text: string | null;
  bigint: bigint | null;
  smallint: number;
  boolean: boolean;
  timestamptz: Date | null;
  "text[]": readonly string[];
  "bigint[]": readonly bigint[];
};

type Column<T> = {
  [Type in keyof ColumnValues]: readonly [name: string, type: Type, getValue: (thing: T) => ColumnValues[Type]];
}[keyof ColumnValues];

/** A composite type of the database, and how a thing becomes a row of it: the columns are in the order of the type. */
export type RowType<T> = { name: string; columns: readonly Column<T>[] };

/**
 * Writes rows as PostgreSQL reads arrays of composite types from text. They go byte after byte into memory that is used
 * again: texts put together from shorter ones would cost several times their length, for every batch of payments.
 */
export type RowArrays = {
  /** Begins anew; what was written before is overwritten. */
  clear(): void;
  /** An array of rows, until `clear`. `null` when there are none. */
  write<T>(type: RowType<T>, things: readonly T[]): Buffer | null;
};

const bytesPerCharacterMax = 3;
/** What most rows need, so that more room is seldom made. */
const rowBytesGuess = 512;

export function createRowArrays(): RowArrays {
  const output = createByteOutput();
  // To write a time as text is dear, and most of a batch's are the same.
  const times = new Map<number, string>();

  function writeList(values: readonly (string | bigint)[]): void {
    output.writePlain('\\"{');
    for (let index = 0; index < values.length; index += 1) {
      if (index > 0) output.writeByte(comma);
      output.writeValue(values[index] ?? "", quoteInList);
    }
    output.writePlain('}\\"');
  }

  function writeColumn<T>(column: Column<T>, thing: T): void {
    switch (column[1]) {
      case "text":
      case "bigint": {
        const value = column[2](thing);
        if (value !== null) output.writeValue(value, quoteInRow);
        return;
      }
      case "smallint":
      case "boolean":
        output.writePlain(String(column[2](thing)));
        return;
      case "timestamptz": {
        const time = column[2](thing);
        if (time !== null) output.writePlain(presentTime(time));
        return;
      }
      case "text[]":
      case "bigint[]":
        writeList(column[2](thing));
    }
  }

  function presentTime(time: Date): string {
    const known = times.get(time.getTime());
    if (known !== undefined) return known;
    const text = time.toISOString();
    times.set(time.getTime(), text);
    return text;
  }

  return {
    clear() {
      output.clear();
      times.clear();
    },
    write({ columns }, things) {
      if (things.length === 0) return null;
      const start = output.begin(things.length * rowBytesGuess);
      let opening = '{"(';
      for (const thing of things) {
        output.writePlain(opening);
        opening = ',"(';
        let isFirst = true;
        for (const column of columns) {
          if (!isFirst) output.writeByte(comma);
          isFirst = false;
          writeColumn(column, thing);
        }
        output.writePlain(')"');
      }
      output.writeByte(closingBrace);
      return output.end(start);
    },
  };
}

/** Memory that values are written to one after another. Long, because all of it moves one offset in one buffer that grows. */
function createByteOutput() {
  let buffer = Buffer.alloc(0);
  let offset = 0;

  function makeRoom(bytes: number): void {
    if (offset + bytes <= buffer.length) return;
    // Arrays in the smaller one stay there.
    const larger = Buffer.allocUnsafe(2 * offset + bytes);
    buffer.copy(larger, 0, 0, offset);
    buffer = larger;
  }

  function writeText(text: string): void {
    makeRoom(text.length * bytesPerCharacterMax);
    offset += buffer.write(text, offset);
  }

  /** Text that is known to have one byte for each character. Most is short, and then a call into Node costs more. */
  function writePlain(text: string): void {
    const { length } = text;
    makeRoom(length);
    if (length > shortCharactersMax) {
      offset += buffer.write(text, offset, "latin1");
      return;
    }
    const target = buffer;
    const start = offset;
    for (let index = 0; index < length; index += 1) target[start + index] = text.charCodeAt(index);
    offset += length;
  }

  /** Digit by digit: to make the text of a number first took five times as long, and a call has twenty of them. */
  function writeNumber(value: bigint): void {
    const number = Number(value);
    if (number < 0 || number > Number.MAX_SAFE_INTEGER) {
      writePlain(String(value));
      return;
    }
    const high = Math.floor(number / billion);
    if (high > 0) writeDigits(high, 1);
    writeDigits(number - high * billion, high > 0 ? 9 : 1);
  }

  /** Of a number below 2³¹, with zeros before it where it has fewer digits. */
  function writeDigits(number: number, digitsMin: number): void {
    let count = digitsMin;
    for (let bound = 10 ** digitsMin; bound <= number; bound *= 10) count += 1;
    makeRoom(count);
    const target = buffer;
    const start = offset;
    let rest = number | 0;
    for (let index = start + count - 1; index >= start; index -= 1) {
      const left = (rest / 10) | 0;
      target[index] = zero + rest - left * 10;
      rest = left;
    }
    offset += count;
  }

  function writeValue(value: string | bigint, quoteText: (text: string) => string): void {
    if (typeof value === "bigint") writeNumber(value);
    else if (isPlain(value)) writePlain(value);
    else writeText(quoteText(value));
  }

  function writeByte(byte: number): void {
    makeRoom(1);
    buffer[offset++] = byte;
  }

  return {
    writePlain,
    writeValue,
    writeByte,
    /** Makes room, and answers where the next value will be. */
    begin(bytes: number): number {
      makeRoom(bytes);
      return offset;
    },
    end: (start: number): Buffer => buffer.subarray(start, offset),
    clear(): void {
      offset = 0;
    },
  };
}

const shortCharactersMax = 12;
const billion = 1_000_000_000;
const zero = 0x30;
const comma = 0x2c;
const closingBrace = 0x7d;

// Made once: where it is used, each use would make another.
const plainCharacters = /^[\w.:-]+$/;

/** Whether a text stands for itself without quotes wherever it is. In a list, one word does not. */
function isPlain(text: string): boolean {
  return plainCharacters.test(text) && !(text.length === 4 && text.toLowerCase() === "null");
}

/** An array of texts by itself. */
export function presentTexts(texts: readonly string[]): string {
  return `{${texts.map(quote).join()}}`;
}

function quote(text: string): string {
  return `"${escapeQuotes(text)}"`;
}

function escapeQuotes(text: string): string {
  return text.replaceAll(/["\\]/g, "\\$&");
}

/** For its row, and that for the array of rows. */
function quoteInRow(text: string): string {
  return escapeQuotes(quote(text));
}

/** For its list, that for the row, and that for the array of rows. */
function quoteInList(text: string): string {
  return escapeQuotes(escapeQuotes(quote(text)));
}
