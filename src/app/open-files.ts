import { join } from "node:path";
import { findAccount } from "../features/accounts/index.ts";
import { startLogShipping } from "../features/backups/index.ts";
import {
  archiveBytes,
  createFiles,
  type Files,
  forgetUnarchivedBytes,
  type KeyedRequests,
} from "../features/files/index.ts";
import {
  claimKey,
  forgetAnswer,
  freeKey,
  isKeyKnown,
  keepAnswer,
  lockClaim,
  parseIdempotencyKey,
  renewClaim,
} from "../features/idempotency/index.ts";
import { hasFunds, releaseHold } from "../features/ledger/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { MasterKey } from "../platform/config/master-key.ts";
import type { Counters } from "../platform/counters/counters.ts";
import type { ChangeFeed } from "../platform/database/change-feed.ts";
import type { Database } from "../platform/database/database.ts";
import { locateLogSpool } from "../platform/database/embedded/cluster-directory.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { createImageReader } from "../platform/media/create-image-reader.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { ByteStore } from "../platform/storage/byte-store.ts";
import { createSpool } from "../platform/storage/create-spool.ts";
import { openByteStore, openPlace } from "../platform/storage/open-byte-store.ts";
import type { CopyWatch } from "./watch-copy.ts";

type FilesOptions = {
  settings: Settings;
  database: Database;
  clock: Clock;
  ids: IdSource;
  counters: Counters;
  masterKey: MasterKey;
  logger: Logger;
  copy: Pick<CopyWatch, "isLive">;
  /** Whether this is the process for once-per-gateway work. */
  isLead(): boolean;
  feed: Pick<ChangeFeed, "liveForMs">;
};

const dayMs = 24 * 60 * 60 * 1000;
const hourMs = 60 * 60 * 1000;
/** The longest video at the highest quality. */
const outputBytesMax = 1024 * 1024 * 1024;

export async function openFiles(options: FilesOptions) {
  const { settings, database, clock, ids, counters, masterKey, logger } = options;
  const bytes = await openByteStore(settings);
  const spool = await createSpool({ folder: join(settings.data_dir, "spool") });
  const images = createImageReader();
  const onTrouble = (error: unknown): void => logger.warn({ error }, "file deletion failed, retry scheduled");
  const files: Files = createFiles({
    ...{ database, clock, ids, bytes, spool, images, counters, onTrouble },
    hasMoney: async (tx, accountId) =>
      (await hasFunds(tx, accountId, clock.now())) || (await findAccount(tx, accountId))?.planId !== null,
    linkKey: masterKey.derive("file-links"),
    siteUrl: settings.site_url,
    isArchived: settings.wal_archive !== undefined,
    keyedRequests: createKeyedRequests({
      ...{ database, clock, onTrouble, liveForMs: options.feed.liveForMs },
      validityMs: settings.idempotency_hours * hourMs,
    }),
    limits: {
      uploadBytesMax: settings.upload_bytes_max,
      outputBytesMax,
      accountFilesMax: settings.account_files_max,
      accountBytesMax: settings.account_storage_bytes_max,
      unpaidFilesMax: settings.unpaid_files_max,
      unpaidBytesMax: settings.unpaid_storage_bytes_max,
      retentionMs: settings.file_days * dayMs,
    },
  });
  const archiving = await openArchive(options, bytes);
  return {
    files,
    removeExpired: async (): Promise<void> => void (await files.removeExpired()),
    async close(): Promise<void> {
      await archiving?.close();
      await images.close();
      await bytes.close();
    },
  };
}

/** Ships the write-ahead log and the files to the archive, if set. */
async function openArchive({ settings, database, logger, copy, isLead }: FilesOptions, bytes: ByteStore) {
  const { wal_archive: where } = settings;
  if (where === undefined) {
    await forgetUnarchivedBytes(database);
    return null;
  }
  if (settings.database_url !== undefined) {
    throw new OperatorError(
      "wal_archive is set, but the database is external.",
      "Remove wal_archive and archive the log with the database's own tools.",
    );
  }
  const archive = await openPlace(where, settings, { use: "write" });
  const onTrouble = (error: unknown): void => logger.error({ error }, "archiving failed");
  const shipping = startLogShipping({
    ...{ spool: locateLogSpool(settings) ?? "", archive, mayShip: () => copy.isLive() && isLead(), onTrouble },
    archiveFiles: (signal) => archiveBytes({ database, bytes, archive, signal, onTrouble }),
  });
  return {
    async close(): Promise<void> {
      await shipping.close();
      await archive.close();
    },
  };
}

type KeyedRequestOptions = {
  database: Database;
  clock: Clock;
  onTrouble(error: unknown): void;
  validityMs: number;
  liveForMs(): number;
};

/** Files and idempotency may not import each other, so the function is injected here. */
function createKeyedRequests({ database, clock, onTrouble, ...terms }: KeyedRequestOptions): KeyedRequests {
  const claims = {
    ...{ database, clock, ...terms },
    releaseHold: async (tx: Database, hold: Parameters<typeof releaseHold>[1]): Promise<void> =>
      void (await releaseHold(tx, hold, clock.now())),
  };
  return {
    parseKey: parseIdempotencyKey,
    isKeyKnown: (asked) => isKeyKnown(claims, asked),
    async claimKey(wanted) {
      const outcome = await claimKey(claims, { ...wanted, holdId: null });
      return outcome.kind === "claimed" ? { kind: "claimed" } : outcome;
    },
    renewClaim: (claim) => renewClaim({ database, clock, onTrouble }, claim),
    lockClaim,
    keepAnswer,
    freeKey: (claim) => freeKey(database, claim),
    forgetAnswer: (claim, answer) => forgetAnswer(database, claim, answer),
  };
}
