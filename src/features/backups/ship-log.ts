import { createReadStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline as connect, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";

type ShippingOptions = {
  /** Where the server puts finished segments. */
  spool: string;
  archive: ByteStore;
  /** Copies the files that the database has by now; a segment never comes before the files that it names. */
  archiveFiles(signal: AbortSignal): Promise<void>;
  /** Whether anything may be written: a copy that is not confirmed must leave the original's archive alone. */
  mayShip(): boolean;
  /** Told why nothing can be archived, each reason once until it succeeds again. */
  onTrouble(error: Error): void;
};

export type LogShipping = { close(): Promise<void> };

const lookEveryMs = 1000;
const segmentPattern = /^[0-9A-F]{24}(\.[0-9A-F]{8}\.backup)?$|^[0-9A-F]{8}\.history$/;

/** Carries finished segments of the write-ahead log to the archive, however long that is away: the spool keeps them. */
export function startLogShipping({ spool, archive, archiveFiles, mayShip, onTrouble }: ShippingOptions): LogShipping {
  const closing = new AbortController();
  const { signal } = closing;
  let lastTrouble: string | null = null;

  async function ship(): Promise<void> {
    if (!mayShip()) return;
    // Those that are there before the files are looked at.
    const names = (await readdir(spool)).filter((name) => segmentPattern.test(name)).toSorted();
    await archiveFiles(signal);
    for (const name of names) {
      signal.throwIfAborted();
      await shipSegment({ archive, path: join(spool, name), name, signal });
    }
    lastTrouble = null;
  }

  function reportTrouble(error: unknown): void {
    const { message } = error instanceof Error ? error : new Error(String(error));
    if (message !== lastTrouble && !signal.aborted) onTrouble(new Error(message, { cause: error }));
    lastTrouble = message;
  }

  async function keepShipping(): Promise<void> {
    while (!signal.aborted) {
      await ship().catch(reportTrouble);
      await wait(lookEveryMs, undefined, { signal }).catch(() => {});
    }
  }

  const shipping = keepShipping();
  return {
    async close() {
      closing.abort();
      await shipping;
    },
  };
}

type Segment = { archive: ByteStore; path: string; name: string; signal: AbortSignal };

/** A server that crashed may hand out a segment again. Another one under the same name is another server's. */
async function shipSegment({ archive, path, name, signal }: Segment): Promise<void> {
  const key = toLogKey(name);
  const there = await readSegment(archive, name);
  const here = await buffer(createReadStream(path)).catch(ignoreMissing);
  // The process that carried them before may have been at it still.
  if (here === null) return;
  if (there !== null && !there.equals(here)) {
    throw new Error(`The archive has another ${name}: each database needs a wal_archive of its own.`);
  }
  if (there === null)
    await archive.put(
      key,
      connect(Readable.from([here]), createGzip({ level: 1 }), () => {}),
      { signal },
    );
  await rm(path, { force: true });
}

function ignoreMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}

function toLogKey(name: string): string {
  return `log/${name}.gz`;
}

/** The names of the segments from one on, whichever timeline they are of, and of all histories. */
export async function listSegments(archive: ByteStore, startLog: string): Promise<string[]> {
  const names = (await archive.list("log")).map((key) => key.replace(/\.gz$/, ""));
  const isWanted = (name: string): boolean => name.endsWith(".history") || name.slice(8) >= startLog.slice(8);
  return names.filter((name) => segmentPattern.test(name) && isWanted(name));
}

/** A segment has 16 MB; `null` where there is none of that name. */
export async function readSegment(archive: ByteStore, name: string): Promise<Buffer | null> {
  try {
    return await buffer(connect(await archive.open(toLogKey(name)), createGunzip(), () => {}));
  } catch (error) {
    if (error instanceof MissingBytesError) return null;
    throw error;
  }
}
