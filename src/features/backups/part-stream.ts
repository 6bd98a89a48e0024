import { createHash } from "node:crypto";
import { pipeline as connect, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import type { Part } from "./manifest.ts";

/** A part's size before compression: at most this, plus one row. */
const partBytesMax = 512 * 1024 * 1024;
const newline = 0x0a;

/** A part that is missing or does not match the manifest. */
export class DamagedPartError extends Error {
  override readonly name = "DamagedPartError";
}

export type PartWriter = { place: ByteStore; folder: string; signal: AbortSignal };

/** Writes rows as compressed parts, split between rows. Writes at least one part, even if it is empty. */
export async function writeParts(
  writer: PartWriter,
  name: string,
  rows: AsyncIterable<Buffer>,
  bytesMax = partBytesMax,
): Promise<Part[]> {
  const pieces = rows[Symbol.asyncIterator]();
  const parts: Part[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isOver = false;

  async function* readNext(): AsyncGenerator<Buffer> {
    let total = rest.length;
    if (total > 0) yield rest;
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) {
        isOver = true;
        return;
      }
      total += value.length;
      const end = total < bytesMax ? 0 : value.lastIndexOf(newline) + 1;
      if (end === 0) {
        yield value;
        continue;
      }
      yield value.subarray(0, end);
      rest = value.subarray(end);
      return;
    }
  }

  while (!isOver) {
    const key = `${name}-${String(parts.length + 1).padStart(4, "0")}.gz`;
    parts.push(await writeCompressed(writer, key, readNext()));
  }
  return parts;
}

export async function writeCompressed(writer: PartWriter, key: string, source: AsyncIterable<Buffer>): Promise<Part> {
  // Level 1: twice as fast as the default for 10 % more bytes, because the gateway needs the CPU.
  return await pipeline(source, createGzip({ level: 1 }), (compressed) => writePart(writer, key, compressed));
}

/** Writes bytes uncompressed. */
export async function writePart(
  { place, folder, signal }: PartWriter,
  key: string,
  source: AsyncIterable<Buffer>,
): Promise<Part> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* measure(): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await place.put(toKey(folder, key), measure(), { signal });
  return { key, bytes, sha256: hash.digest("hex") };
}

/** Without a folder, the key is relative to the place itself. */
function toKey(folder: string, key: string): string {
  return folder === "" ? key : `${folder}/${key}`;
}

export type PartReader = { place: ByteStore; folder: string };

/** Reads a part without decompressing; throws at its end if it does not match. */
export async function* readPart({ place, folder }: PartReader, part: Part): AsyncGenerator<Buffer> {
  const key = toKey(folder, part.key);
  yield* verify(await openPart(place, key), { ...part, key });
}

async function openPart(place: ByteStore, key: string): Promise<AsyncIterable<Buffer>> {
  try {
    return await place.open(key);
  } catch (error) {
    throw error instanceof MissingBytesError ? new DamagedPartError(`${key} is missing.`, { cause: error }) : error;
  }
}

/** Passes bytes through, and throws at the end if their size or hash does not match. */
export async function* verify(
  source: AsyncIterable<Buffer>,
  { key, bytes, sha256 }: Part,
): AsyncGenerator<Buffer, void, void> {
  const hash = createHash("sha256");
  let total = 0;
  for await (const piece of source) {
    hash.update(piece);
    total += piece.length;
    yield piece;
  }
  if (total !== bytes) throw new DamagedPartError(`${key} has ${total} bytes instead of ${bytes}.`);
  if (hash.digest("hex") !== sha256) throw new DamagedPartError(`${key} has the wrong checksum.`);
}

/** The decompressed rows of parts, in order. */
export async function* readParts(reader: PartReader, parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    // The reader of the stream gets the error.
    yield* connect(Readable.from(readPart(reader, part)), createGunzip(), () => {});
  }
}

/** Splits into lines, without their ends. */
export async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of source) {
    const lines = `${rest}${piece.toString("latin1")}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
