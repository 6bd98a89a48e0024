import { text } from "node:stream/consumers";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import { type ByteStore, MissingBytesError } from "../../platform/storage/byte-store.ts";
import { type Manifest, manifestName, parseManifest } from "./manifest.ts";

const backupIdPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

/** All backups in a place, oldest first; one without a manifest was interrupted. */
export async function listBackups(place: ByteStore): Promise<{ id: string; manifest: Manifest | null }[]> {
  const ids = (await place.list("")).filter((name) => backupIdPattern.test(name));
  const found = [];
  for (const id of ids) found.push({ id, manifest: await readManifest(place, id) });
  return found;
}

/** The backup with the id, or the newest complete one. */
export async function getBackup(place: ByteStore, id: string | undefined): Promise<Manifest> {
  const ids = id === undefined ? (await listBackups(place)).map((backup) => backup.id).toReversed() : [id];
  for (const candidate of ids) {
    const manifest = backupIdPattern.test(candidate) ? await readManifest(place, candidate) : null;
    if (manifest !== null) return manifest;
  }
  throw new OperatorError(
    id === undefined
      ? "There is no complete backup in that place."
      : `There is no complete backup ${id} in that place.`,
    "List what is there: npm run -s sluice -- backup list <where>",
  );
}

async function readManifest(place: ByteStore, id: string): Promise<Manifest | null> {
  try {
    return parseManifest(await text(await place.open(`${id}/${manifestName}`)));
  } catch (error) {
    if (error instanceof MissingBytesError) return null;
    throw error;
  }
}
