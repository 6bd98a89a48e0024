import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { LoggedRequest } from "./request-record.ts";

/** A call in a block. */
export type BlockRecord = LoggedRequest & {
  /** Replaces the record of the same call that was written before its usage was known. `false` by default. */
  isAmendment?: boolean;
};

/**
 * Calls of one account that are stored together. Written call by call, the log took a tenth of a chat call's CPU time and 750
 * bytes of disk; as blocks, a hundredth and about 20 bytes.
 */
export type RequestBlock = {
  accountId: AccountId;
  /** Of its oldest and newest call; at most `blockSpanMs` apart. */
  firstAt: Date;
  lastAt: Date;
  /** Without amendments. */
  calls: number;
  /** The values that occur in it. Filters skip blocks without theirs, unread. */
  contains: BlockContents;
  body: Buffer;
};

type BlockContents = {
  keyIds: readonly string[];
  wires: readonly string[];
  models: readonly string[];
  statuses: readonly number[];
  errorCodes: readonly string[];
  /** Of clients' ids and of upstreams' ids. */
  idHashes: readonly number[];
};

/** So that the time of a call bounds the blocks that may contain it. */
export const blockSpanMs = 60 * 60 * 1000;
export const blockCallsMax = 1000;

/** Divides one account's calls into blocks, by time. */
export function formBlocks(accountId: AccountId, records: readonly BlockRecord[]): RequestBlock[] {
  const blocks: RequestBlock[] = [];
  let part: BlockRecord[] = [];
  for (const record of records.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())) {
    const [first = record] = part;
    const isFull = part.length === blockCallsMax || Number(record.createdAt) - Number(first.createdAt) > blockSpanMs;
    if (isFull) {
      blocks.push(formBlock(accountId, part));
      part = [];
    }
    part.push(record);
  }
  if (part.length > 0) blocks.push(formBlock(accountId, part));
  return blocks;
}

function formBlock(accountId: AccountId, records: readonly BlockRecord[]): RequestBlock {
  const [first, last] = [records[0] as BlockRecord, records.at(-1) as BlockRecord];
  return {
    accountId,
    firstAt: first.createdAt,
    lastAt: last.createdAt,
    calls: records.reduce((count, { isAmendment }) => (isAmendment ? count : count + 1), 0),
    contains: {
      keyIds: listValues(records, ({ keyId }) => keyId),
      wires: listValues(records, ({ wire }) => wire),
      models: listValues(records, ({ model }) => model),
      statuses: listValues(records, ({ status }) => status),
      errorCodes: listValues(records, ({ errorCode }) => errorCode),
      idHashes: listIdHashes(records),
    },
    body: packRecords(records),
  };
}

function listValues<T>(records: readonly BlockRecord[], read: (record: BlockRecord) => T | null): T[] {
  const values = new Set<T>();
  for (const record of records) {
    const value = read(record);
    if (value !== null) values.add(value);
  }
  return [...values];
}

/** Ids that others gave the calls. Ours contain their time and need no hash. */
function listIdHashes(records: readonly BlockRecord[]): number[] {
  const hashes = new Set<number>();
  for (const { clientRequestId, upstreamRequestId = null, failedAttempts = [] } of records) {
    if (clientRequestId !== null) hashes.add(hashId(clientRequestId));
    if (upstreamRequestId !== null) hashes.add(hashId(upstreamRequestId));
    for (const { upstreamRequestId: id = null } of failedAttempts) if (id !== null) hashes.add(hashId(id));
  }
  return [...hashes];
}

/** Whether a client or an upstream gave the call this id. */
export function hasForeignId(
  {
    clientRequestId,
    upstreamRequestId,
    failedAttempts = [],
  }: Pick<BlockRecord, "clientRequestId" | "upstreamRequestId" | "failedAttempts">,
  id: string,
): boolean {
  if (clientRequestId === id || upstreamRequestId === id) return true;
  return failedAttempts.some((attempt) => attempt.upstreamRequestId === id);
}

/** As an `integer`. Different ids may share a hash, so a match is only likely. */
export function hashId(id: string): number {
  return crc32(id) | 0;
}

type ColumnName = Exclude<keyof BlockRecord, "accountId">;
type ColumnValue = { [Name in ColumnName]-?: Exclude<BlockRecord[Name], undefined> };

/** What a block does not contain: columns with only this value, and those its version did not have. */
const defaults: ColumnValue = {
  ...{ id: "", createdAt: new Date(0), keyId: "key_", clientRequestId: null, wire: null, method: "", route: null },
  ...{ model: null, status: 0, errorCode: null, ending: "answered", durationMs: 0, firstTokenMs: null },
  ...{ inputTokens: null, cachedInputTokens: null, cacheWriteTokens: null, outputTokens: null, reasoningTokens: null },
  ...{ audioInputTokens: null, audioOutputTokens: null, charge: null, chargeId: null, taskId: null, userAgent: null },
  ...{
    isReplayed: false,
    upstream: null,
    upstreamRequestId: null,
    failedAttempts: [],
    error: null,
    isAmendment: false,
  },
};

/** Below this, compression saves less than it costs. */
const compressedBytesMin = 4096;
const fastest = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** How each column is written as JSON; `undefined` for its default. */
const writers: { [Name in ColumnName]: (record: BlockRecord) => string | number | boolean | object | undefined } = {
  id: ({ id }) => id,
  createdAt: ({ createdAt }) => createdAt.getTime(),
  keyId: ({ keyId }) => keyId,
  clientRequestId: ({ clientRequestId }) => clientRequestId ?? undefined,
  wire: ({ wire }) => wire ?? undefined,
  method: ({ method }) => method,
  route: ({ route }) => route ?? undefined,
  model: ({ model }) => model ?? undefined,
  status: ({ status }) => status,
  errorCode: ({ errorCode }) => errorCode ?? undefined,
  ending: ({ ending }) => ending,
  durationMs: ({ durationMs }) => durationMs,
  firstTokenMs: ({ firstTokenMs }) => firstTokenMs ?? undefined,
  inputTokens: ({ inputTokens }) => inputTokens ?? undefined,
  cachedInputTokens: ({ cachedInputTokens }) => cachedInputTokens ?? undefined,
  cacheWriteTokens: ({ cacheWriteTokens }) => cacheWriteTokens ?? undefined,
  outputTokens: ({ outputTokens }) => outputTokens ?? undefined,
  reasoningTokens: ({ reasoningTokens }) => reasoningTokens ?? undefined,
  audioInputTokens: ({ audioInputTokens }) => audioInputTokens ?? undefined,
  audioOutputTokens: ({ audioOutputTokens }) => audioOutputTokens ?? undefined,
  charge: ({ charge }) => charge?.toString(),
  chargeId: ({ chargeId }) => chargeId ?? undefined,
  taskId: ({ taskId }) => taskId ?? undefined,
  userAgent: ({ userAgent }) => userAgent ?? undefined,
  isReplayed: ({ isReplayed }) => isReplayed || undefined,
  upstream: ({ upstream }) => upstream ?? undefined,
  upstreamRequestId: ({ upstreamRequestId }) => upstreamRequestId ?? undefined,
  failedAttempts: ({ failedAttempts = [] }) => (failedAttempts.length === 0 ? undefined : failedAttempts),
  error: ({ error }) => error ?? undefined,
  isAmendment: ({ isAmendment }) => isAmendment || undefined,
};

export const allColumns = Object.keys(writers) as readonly ColumnName[];
const columns = Object.entries(writers);

/**
 * A line per column: `name=value` if all calls have the same value, otherwise `name:[values]`. Readers parse only the columns
 * they need. Columns that only have their default are left out.
 */
function packRecords(records: readonly BlockRecord[]): Buffer {
  let text = String(records.length);
  for (const [name, write] of columns) {
    const values = records.map(write);
    const [first] = values;
    if (values.some((value) => value !== first)) text += `\n${name}:${JSON.stringify(values)}`;
    else if (first !== undefined) text += `\n${name}=${JSON.stringify(first)}`;
  }
  const bytes = Buffer.from(text);
  return bytes.length < compressedBytesMin ? bytes : zstdCompressSync(bytes, fastest);
}

/** Zstandard's magic number. Uncompressed blocks start with a digit. */
const compressedByte = 0x28;

/** A class, because V8 keeps only so many hidden classes of objects that grow from an empty one. */
class ReadRecord {}

/** Reads the given columns of a block's calls. */
export function readBlock<Name extends ColumnName>(body: Buffer, names: readonly Name[]): Pick<ColumnValue, Name>[] {
  const text = (body[0] === compressedByte ? zstdDecompressSync(body) : body).toString();
  const [count, ...lines] = text.split("\n");
  const records = Array.from({ length: Number(count) }, () => new ReadRecord() as Pick<ColumnValue, Name>);
  const lineByName = new Map(lines.map((line) => [line.slice(0, line.search(/[=:]/)), line]));
  for (const name of names) readColumn(name, lineByName.get(name), records);
  return records;
}

function readColumn<Name extends ColumnName>(
  name: Name,
  line: string | undefined,
  records: readonly Pick<ColumnValue, Name>[],
): void {
  if (line === undefined) {
    for (const record of records) record[name] = defaults[name];
    return;
  }
  const json: unknown = JSON.parse(line.slice(name.length + 1));
  if (line.charAt(name.length) === "=") {
    const value = readValue(name, json);
    for (const record of records) record[name] = value;
    return;
  }
  const values = json as readonly unknown[];
  for (const [index, record] of records.entries()) record[name] = readValue(name, values[index]);
}

/** The inverse of a writer. Lists have `null` in place of `undefined`. */
function readValue<Name extends ColumnName>(name: Name, json: unknown): ColumnValue[Name] {
  if (json === null || json === undefined) return defaults[name];
  if (name === "createdAt") return new Date(json as number) as ColumnValue[Name];
  if (name === "charge") return nano(BigInt(json as string)) as ColumnValue[Name];
  return json as ColumnValue[Name];
}
