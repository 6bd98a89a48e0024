import { constants, createWriteStream } from "node:fs";
import { mkdir, open, readdir, realpath, rename, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { invariant } from "../../lib/invariant.ts";
import { type ByteStore, MissingBytesError } from "./byte-store.ts";
import { removeLeftovers } from "./remove-leftovers.ts";

const draftsName = "drafts";
/** No segment begins with a dot: no `..` and no hidden files. */
const keyPattern = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;
const ownerOnly = { file: 0o600, folder: 0o700 };

/** Stores blobs in a folder. Writes go to a draft, which is renamed after fsync. */
export async function createDiskStore({ folder }: { folder: string }): Promise<ByteStore> {
  await mkdir(join(folder, draftsName), { recursive: true, mode: ownerOnly.folder });
  const root = await realpath(folder);
  const drafts = join(root, draftsName);
  await removeLeftovers(drafts);
  let draftCount = 0;

  function locate(key: string): string {
    invariant(keyPattern.test(key) && !key.startsWith(`${draftsName}/`), `${key} is not a valid key`);
    return join(root, key);
  }

  return {
    async put(key, bytes, { signal }) {
      const path = locate(key);
      draftCount += 1;
      const draft = join(drafts, `${process.pid}-${draftCount}-${key.replaceAll("/", "-")}`);
      try {
        // `wx` neither follows links nor overwrites.
        const target = createWriteStream(draft, { flags: "wx", mode: ownerOnly.file, flush: true });
        await pipeline(bytes, target, { signal });
        await makeFolder(root, dirname(path));
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    async open(key, range) {
      const path = locate(key);
      try {
        await requireInside(root, dirname(path));
        const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
        return handle.createReadStream(range ?? {});
      } catch (error) {
        throw isMissing(error) ? new MissingBytesError(key, { cause: error }) : error;
      }
    },
    async delete(key) {
      const path = locate(key);
      try {
        await requireInside(root, dirname(path));
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      await rm(path, { force: true });
    },
    async list(prefix) {
      try {
        if (prefix !== "") await requireInside(root, locate(prefix));
        const names = await readdir(prefix === "" ? root : locate(prefix));
        return names.filter((name) => prefix !== "" || name !== draftsName).toSorted();
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },
    async close() {},
  };
}

/** Syncs new folders too, for durability. */
async function makeFolder(root: string, folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: ownerOnly.folder });
  await requireInside(root, folder);
  if (first === undefined) return;
  for (let made = folder; made !== root; made = dirname(made)) await syncFolder(dirname(made));
}

/** Rejects symbolic links, which could point anywhere. */
async function requireInside(root: string, folder: string): Promise<void> {
  const way = relative(root, folder);
  invariant(way !== "" && !way.split(sep).includes(".."), `${folder} is outside the store`);
  invariant((await realpath(folder)) === folder, `${folder} is a symbolic link`);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
