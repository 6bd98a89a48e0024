import { createReadStream } from "node:fs";
import type { AccountId, FileId, IdSource } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { SpooledFile } from "../../platform/storage/create-spool.ts";
import { createQuotaError, findQuota, isWithin, type QuotaParts } from "./check-usage.ts";
import type { FileKind, FilePurpose, StoredFile } from "./file.ts";
import { addUsage, findFile, findUsage, insertFile } from "./file-store.ts";
import { discardBytes, type RemovalParts } from "./remove-bytes.ts";
import { insertUnownedBytes, takeUnownedBytes } from "./unowned-bytes-store.ts";

export type StoreParts = RemovalParts & QuotaParts & { ids: IdSource };

export type NewFile = {
  id: FileId;
  accountId: AccountId;
  purpose: FilePurpose;
  filename: string;
  spooled: SpooledFile;
  media: Omit<InspectedMedia, "kind"> & { kind: FileKind };
};

type Surroundings = {
  signal: AbortSignal;
  /** Done in the transaction that makes the file, before anything else and at its end. */
  begin?(tx: Database): Promise<void>;
  conclude?(tx: Database, file: StoredFile): Promise<void>;
};

const writeMsMax = 15 * 60 * 1000;
/** Long after the writer has given up. */
const abandonedMs = 4 * writeMsMax;

/**
 * Keeps the bytes, then makes the file in one transaction with its quota. `null` where there is a file with the id
 * already. Whatever happens in between, bytes without a file are noted and removed.
 */
export async function storeFile(
  parts: StoreParts,
  { spooled, media, ...named }: NewFile,
  { signal, begin, conclude }: Surroundings,
): Promise<StoredFile | null> {
  const createdAt = parts.clock.now();
  const file: StoredFile = {
    ...media,
    ...named,
    bytes: spooled.bytes,
    sha256: spooled.sha256.toString("hex"),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + parts.limits.retentionMs),
    storageKey: createStorageKey(parts.ids, named.accountId, createdAt),
  };
  const { storageKey } = file;
  await insertUnownedBytes(parts.database, storageKey, new Date(createdAt.getTime() + abandonedMs));
  let isStored = false;
  try {
    const writeSignal = AbortSignal.any([signal, AbortSignal.timeout(writeMsMax)]);
    await parts.bytes.put(storageKey, createReadStream(spooled.path), { signal: writeSignal });
    signal.throwIfAborted();
    isStored = await parts.database.transaction().execute(async (tx) => {
      await begin?.(tx);
      if (!(await insertFile(tx, file))) return false;
      if (file.purpose !== "output") await countUpload(parts, tx, file);
      invariant(await takeUnownedBytes(tx, storageKey), `the bytes of ${file.id} were swept up while being written`);
      await conclude?.(tx, file);
      return true;
    });
  } finally {
    if (!isStored) await discardBytes(parts, storageKey);
  }
  return isStored ? file : null;
}

/** Of several uploads at once each sees those before it. */
async function countUpload(parts: StoreParts, tx: Database, { accountId, bytes }: StoredFile): Promise<void> {
  await addUsage(tx, accountId, bytes);
  const quota = await findQuota(parts, tx, accountId);
  if (!isWithin(await findUsage(tx, accountId, parts.clock.now()), quota)) throw createQuotaError(quota);
}

/** Stores what a task made: of any number of attempts with one id, one makes the file and all answer it. */
export async function storeOutput(
  parts: StoreParts,
  output: Omit<NewFile, "purpose">,
  signal: AbortSignal,
): Promise<StoredFile> {
  const made = await storeFile(parts, { ...output, purpose: "output" }, { signal });
  const stored = made ?? (await findFile(parts.database, output.id));
  invariant(stored !== null, `${output.id} was kept by another, but is not there`);
  return stored;
}

/** Random, and never anything that a caller chose. */
function createStorageKey(ids: IdSource, accountId: AccountId, now: Date): string {
  const [year, month] = now.toISOString().split("-");
  return `${accountId}/${year}/${month}/${ids.next("file").slice("file_".length)}`;
}
