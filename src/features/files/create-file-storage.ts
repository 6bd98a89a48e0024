import { createReadStream } from "node:fs";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId, FileId, IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";
import type { SpooledFile } from "../../platform/storage/create-spool.ts";
import { chooseQuota, createQuotaError, type HasMoney, isWithin } from "./check-usage.ts";
import type { FileRemoval } from "./create-file-removal.ts";
import type { FileKind, FileLimits, FilePurpose, StoredFile } from "./file.ts";
import { addUsage, findFile, findUsage, insertFile } from "./file-store.ts";
import { insertUnarchivedBytes } from "./unarchived-bytes-store.ts";
import { insertUnownedBytes, takeUnownedBytes } from "./unowned-bytes-store.ts";

export type NewFile = {
  id: FileId;
  accountId: AccountId;
  purpose: FilePurpose;
  filename: string;
  spooled: SpooledFile;
  media: Omit<InspectedMedia, "kind"> & { kind: FileKind };
};

/** Options of the transaction that creates a file. */
export type StoreOptions = {
  signal: AbortSignal;
  /** Run inside the transaction, at its start and end. */
  begin?(tx: Database): Promise<void>;
  conclude?(tx: Database, file: StoredFile): Promise<void>;
};

export type FileStorage = {
  /**
   * Stores the bytes, then inserts the file and counts its quota in one transaction. Returns `null` if the id already
   * exists. Bytes without a file are recorded as unowned and deleted later.
   */
  storeFile(file: NewFile, options: StoreOptions): Promise<StoredFile | null>;
  /** Stores a task's output idempotently: of several attempts with one id, one creates the file and all return it. */
  storeOutput(output: Omit<NewFile, "purpose">, signal: AbortSignal): Promise<StoredFile>;
};

export type StorageDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  bytes: ByteStore;
  limits: FileLimits;
  hasMoney: HasMoney;
  removal: Pick<FileRemoval, "discardBytes">;
  /** Whether bytes are copied to an archive. */
  isArchived: boolean;
};

const writeMsMax = 15 * 60 * 1000;
/** Well after the writer has timed out. */
const abandonedMs = 4 * writeMsMax;

export function createFileStorage(dependencies: StorageDependencies): FileStorage {
  const { database, clock, ids, bytes, limits, hasMoney, removal, isArchived } = dependencies;

  const storeFile: FileStorage["storeFile"] = async ({ spooled, media, ...named }, { signal, begin, conclude }) => {
    const createdAt = clock.now();
    const storageKey = createStorageKey(ids, named.accountId, createdAt);
    const file: StoredFile = {
      ...{ ...media, ...named, createdAt, storageKey },
      bytes: spooled.bytes,
      sha256: spooled.sha256.toString("hex"),
      expiresAt: new Date(createdAt.getTime() + limits.retentionMs),
    };
    await insertUnownedBytes(database, storageKey, new Date(createdAt.getTime() + abandonedMs));
    let isStored = false;
    try {
      const writeSignal = AbortSignal.any([signal, AbortSignal.timeout(writeMsMax)]);
      await bytes.put(storageKey, createReadStream(spooled.path), { signal: writeSignal });
      signal.throwIfAborted();
      isStored = await database.transaction().execute(async (tx) => {
        await begin?.(tx);
        if (!(await insertFile(tx, file))) return false;
        if (file.purpose !== "output") await countUpload(tx, file);
        invariant(await takeUnownedBytes(tx, storageKey), `the bytes of ${file.id} were swept up while being written`);
        if (isArchived) await insertUnarchivedBytes(tx, storageKey);
        await conclude?.(tx, file);
        return true;
      });
    } finally {
      if (!isStored) await removal.discardBytes(storageKey);
    }
    return isStored ? file : null;
  };

  /** The usage row's lock serializes concurrent uploads. */
  async function countUpload(tx: Database, file: StoredFile): Promise<void> {
    await addUsage(tx, file.accountId, file.bytes);
    const quota = chooseQuota(limits, await hasMoney(tx, file.accountId));
    if (!isWithin(await findUsage(tx, file.accountId, clock.now()), quota)) throw createQuotaError(quota);
  }

  return {
    storeFile,
    async storeOutput(output, signal) {
      const made = await storeFile({ ...output, purpose: "output" }, { signal });
      const stored = made ?? (await findFile(database, output.id));
      invariant(stored !== null, `${output.id} was stored by another process, but is missing`);
      return stored;
    },
  };
}

/** Random: it contains nothing a caller chose. */
function createStorageKey(ids: IdSource, accountId: AccountId, now: Date): string {
  const [year, month] = now.toISOString().split("-");
  return `${accountId}/${year}/${month}/${ids.next("file").slice("file_".length)}`;
}
