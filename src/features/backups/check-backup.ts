import { forEachFile, readListedFiles, toPart } from "./copy-files.ts";
import type { BackupDependencies } from "./create-backup.ts";
import { listParts, type Manifest, type Part } from "./manifest.ts";
import { DamagedPartError, type PartReader, readPart } from "./part-stream.ts";

/** Reads every byte of a backup and returns what is damaged or missing. */
export async function checkBackup(
  { place, onProgress, signal }: Pick<BackupDependencies, "place" | "onProgress" | "signal">,
  manifest: Manifest,
): Promise<string[]> {
  const reader: PartReader = { place, folder: manifest.id };
  const problems: string[] = [];

  async function check(part: Part): Promise<void> {
    signal.throwIfAborted();
    try {
      for await (const _piece of readPart(reader, part));
    } catch (error) {
      if (!(error instanceof DamagedPartError)) throw error;
      problems.push(error.message);
    }
  }

  const parts = listParts(manifest);
  for (const [index, part] of parts.entries()) {
    onProgress(`checking the database: ${index + 1} of ${parts.length} parts`);
    await check(part);
  }
  // A damaged list of files cannot be checked further.
  if (problems.length > 0) return problems;
  let count = 0;
  await forEachFile(readListedFiles(reader, manifest.files.list), async (file) => {
    await check(toPart(file));
    count += 1;
    onProgress(`checking files: ${count} of ${manifest.files.count}`);
  });
  return problems;
}
