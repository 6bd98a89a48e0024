import { OperatorError } from "../../platform/errors/operator-error.ts";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import type { Part } from "./manifest.ts";
import {
  DamagedPartError,
  type PartReader,
  type PartWriter,
  readParts,
  splitLines,
  verify,
  writePart,
} from "./part-stream.ts";

/** An entry of the list of files. */
export type ListedFile = { id: string; storageKey: string; bytes: number; sha256: string };

const filesAtOnceMax = 8;

/** The files of a list, as the database had them. */
export function readListedFiles(reader: PartReader, list: Part): AsyncGenerator<ListedFile> {
  return parseListedFiles(readParts(reader, [list]));
}

export async function* parseListedFiles(list: AsyncIterable<Buffer>): AsyncGenerator<ListedFile> {
  for await (const line of splitLines(list)) {
    const [storageKey = "", bytes = "", sha256 = "", id = ""] = line.split("\t");
    yield { id, storageKey, bytes: Number(bytes), sha256 };
  }
}

/** A file's place in a backup. */
export function toPart({ storageKey, bytes, sha256 }: ListedFile): Part {
  return { key: `files/${storageKey}`, bytes, sha256 };
}

/** Processes every file, a few at a time. The first failure stops it, once the running ones are done. */
export async function forEachFile(
  files: AsyncGenerator<ListedFile>,
  work: (file: ListedFile) => Promise<void>,
): Promise<{ count: number; bytes: number }> {
  const done = { count: 0, bytes: 0 };
  async function workOn(): Promise<void> {
    for (let next = await files.next(); next.done !== true; next = await files.next()) {
      await work(next.value);
      done.count += 1;
      done.bytes += next.value.bytes;
    }
  }
  const workers = Array.from({ length: filesAtOnceMax }, () =>
    workOn().catch(async (error: unknown) => {
      await files.return(undefined);
      throw error;
    }),
  );
  for (const outcome of await Promise.allSettled(workers)) if (outcome.status === "rejected") throw outcome.reason;
  return done;
}

/** Verifies a file against the database while copying it: a mismatch fails the backup. */
export async function copyFile(files: ByteStore, writer: PartWriter, file: ListedFile): Promise<void> {
  const part = toPart(file);
  try {
    await writePart(writer, part.key, verify(await files.open(file.storageKey), part));
  } catch (error) {
    if (!(error instanceof DamagedPartError || error instanceof MissingBytesError)) throw error;
    throw new OperatorError(
      `The bytes of ${file.id} are missing or damaged in the file storage, so the backup would be incomplete.`,
      `Restore them, or delete the file: npm run -s sluice -- file purge --file ${file.id}`,
      { cause: error },
    );
  }
}
