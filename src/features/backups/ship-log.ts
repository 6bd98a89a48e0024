import { createReadStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline as connect, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";

type ShippingOptions = {
  /** Where the server puts finished WAL segments. */
  spool: string;
  archive: ByteStore;
  /** Archives the database's current files first, so that no archived segment refers to a missing file. */
  archiveFiles(signal: AbortSignal): Promise<void>;
  /** Whether shipping is allowed: an unconfirmed copy must not write to the original's archive. */
  mayShip(): boolean;
  /** Called when archiving fails; once per message until it succeeds again. */
  onTrouble(error: Error): void;
};

export type LogShipping = { close(): Promise<void> };

const pollEveryMs = 1000;
const segmentPattern = /^[0-9A-F]{24}(\.[0-9A-F]{8}\.backup)?$|^[0-9A-F]{8}\.history$/;

/** Ships finished WAL segments to the archive. During an outage of the archive they stay in the spool. */
export function startLogShipping({ spool, archive, archiveFiles, mayShip, onTrouble }: ShippingOptions): LogShipping {
  const closing = new AbortController();
  const { signal } = closing;
  let lastTrouble: string | null = null;

  async function ship(): Promise<void> {
    if (!mayShip()) return;
    // Only segments that exist before the files are archived.
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
      await wait(pollEveryMs, undefined, { signal }).catch(() => {});
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

/**
 * After a crash, the server may emit a segment again. Different contents under the same name come from another server.
 */
async function shipSegment({ archive, path, name, signal }: Segment): Promise<void> {
  const key = toLogKey(name);
  const there = await readSegment(archive, name);
  const here = await buffer(createReadStream(path)).catch(ignoreMissing);
  // Another process shipped it meanwhile.
  if (here === null) return;
  if (there !== null && !there.equals(here)) {
    throw new Error(`The archive has a different ${name}: each database needs its own wal_archive.`);
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

/** The segments of any timeline from `startLog` on, and all history files. */
export async function listSegments(archive: ByteStore, startLog: string): Promise<string[]> {
  const names = (await archive.list("log")).map((key) => key.replace(/\.gz$/, ""));
  const isWanted = (name: string): boolean => name.endsWith(".history") || name.slice(8) >= startLog.slice(8);
  return names.filter((name) => segmentPattern.test(name) && isWanted(name));
}

/** Reads a segment of 16 MB; `null` if it does not exist. */
export async function readSegment(archive: ByteStore, name: string): Promise<Buffer | null> {
  try {
    return await buffer(connect(await archive.open(toLogKey(name)), createGunzip(), () => {}));
  } catch (error) {
    if (error instanceof MissingBytesError) return null;
    throw error;
  }
}
