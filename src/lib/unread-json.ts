/**
 * Objects with fields that are computed when they are first read: most large requests are forwarded without being read. Such
 * a field looks like any other. Copies of the object, by spread or `JSON.stringify`, read it.
 */
const stateOf = Symbol("fields that were not read yet");

type UnreadField = {
  /** Computes the value, once. */
  read(): unknown;
  /** The value as JSON; `null` if it must be read to be written. */
  text: Buffer | null;
};

type UnreadState = {
  fields: Map<string, UnreadField>;
  /** What is known of these fields without reading them. */
  facts: unknown;
};

type Holder = { [stateOf]?: UnreadState };

/** Adds or replaces fields. `facts` hold until one of them is read or replaced: from then on it may change. */
export function leaveUnread(record: object, fields: Readonly<Record<string, UnreadField>>, facts: unknown): void {
  const state: UnreadState = { fields: new Map(Object.entries(fields)), facts };
  // Not enumerable: a copy must not have it.
  Object.defineProperty(record, stateOf, { value: state });
  for (const [name, { read }] of state.fields) {
    const settle = (value: unknown): unknown => {
      state.fields.delete(name);
      state.facts = null;
      Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true });
      return value;
    };
    const accessor = { get: () => settle(read()), set: (value: unknown) => void settle(value) };
    Object.defineProperty(record, name, { ...accessor, enumerable: true, configurable: true });
  }
}

/** Gives an object the unread fields of another. */
export function shareUnread(from: Readonly<Record<string, unknown>>, to: object, facts: unknown): void {
  const fields: Record<string, UnreadField> = {};
  for (const [name, field] of (from as Holder)[stateOf]?.fields ?? []) {
    fields[name] = {
      read: () => from[name],
      get text() {
        return field.text;
      },
      set text(text) {
        field.text = text;
      },
    };
  }
  leaveUnread(to, fields, facts);
}

/** What is known of the unread fields; `null` if there are none. */
export function findUnreadFacts(record: object): unknown {
  return (record as Holder)[stateOf]?.facts ?? null;
}

export function isUnread(record: object, name: string): boolean {
  return (record as Holder)[stateOf]?.fields.has(name) === true && Object.hasOwn(record, name);
}

export function listUnread(record: object): readonly string[] {
  return [...((record as Holder)[stateOf]?.fields.keys() ?? [])];
}

/** Whether all unread fields can be written without being read. */
export function areCopies(record: object): boolean {
  for (const { text } of (record as Holder)[stateOf]?.fields.values() ?? []) if (text === null) return false;
  return true;
}

/** Whether a field has a value, without reading it. */
export function isGiven(record: Readonly<Record<string, unknown>>, name: string): boolean {
  return isUnread(record, name) || record[name] !== undefined;
}

/** Reads all fields: the object is then like any other. */
export function readAll(record: object): void {
  for (const name of listUnread(record)) Reflect.get(record, name);
}

/** The other fields. */
export function pickRead(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name in record) if (!isUnread(record, name)) picked[name] = record[name];
  return picked;
}

/** The first items of a list, of which the JSON of the unread field has the text between `from` and `to`. */
export type ListStart = { items: number; from: number; to: number };

/** The value of a field, which stays unread if it is. */
export function readCopy(record: object, name: string): unknown {
  const text = (record as Holder)[stateOf]?.fields.get(name)?.text ?? null;
  return text === null ? Reflect.get(record, name) : JSON.parse(text.toString("utf8"));
}

/** Reads the first items of a list, and leaves the field unread. */
export function readListStart(record: object, name: string, { items, from, to }: ListStart): unknown[] {
  const text = (record as Holder)[stateOf]?.fields.get(name)?.text ?? null;
  if (text === null) return (Reflect.get(record, name) as unknown[]).slice(0, items);
  return JSON.parse(`[${text.toString("utf8", from, to)}]`) as unknown[];
}

/**
 * Writes `fields` as JSON, and after them the unread fields of `from`, byte for byte. From then on these are parts of what was
 * written, because that stays in memory anyway: the received bytes can go.
 */
export function writeWithUnread(fields: Readonly<Record<string, unknown>>, from: object): Buffer {
  const head = JSON.stringify(fields).slice(0, -1);
  const parts: Buffer[] = [Buffer.from(head)];
  let separator = head === "{" ? "" : ",";
  const copied = [...((from as Holder)[stateOf]?.fields ?? [])].filter(([name]) => isUnread(from, name));
  for (const [name, { text }] of copied) {
    if (text === null) continue;
    parts.push(Buffer.from(`${separator}${JSON.stringify(name)}:`), text);
    separator = ",";
  }
  parts.push(Buffer.from("}"));
  const written = Buffer.concat(parts);
  let end = written.length - 1;
  for (const [name, field] of copied.toReversed()) {
    if (field.text === null) continue;
    const { length } = field.text;
    field.text = written.subarray(end - length, end);
    end -= length + Buffer.byteLength(JSON.stringify(name)) + 2;
  }
  return written;
}

/** The place of a field's value in the text of an object. */
export type TextRange = { name: string; from: number; to: number };

/**
 * Parses an object except for the fields in these places, which are in order. `null` if the text is invalid. `describe` returns
 * what is known of them; it must not keep the bytes.
 */
export function parseAround(
  bytes: Buffer,
  ranges: readonly TextRange[],
  describe: (parsed: object) => unknown,
): object | null {
  let text = "";
  let at = 0;
  for (const { from, to } of ranges) {
    text += `${bytes.toString("utf8", at, from)}0`;
    at = to;
  }
  const parsed = parseObject(text + bytes.toString("utf8", at));
  if (parsed === null) return null;
  const fields: Record<string, UnreadField> = {};
  for (const { name, from, to } of ranges) {
    const field: UnreadField = { read: () => JSON.parse(String(field.text)), text: bytes.subarray(from, to) };
    fields[name] = field;
  }
  leaveUnread(parsed, fields, describe(parsed));
  return parsed;
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
