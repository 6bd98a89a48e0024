import { join } from "node:path";
import { findAccount } from "../features/accounts/index.ts";
import { createFiles, type Files, type KeyedRequests } from "../features/files/index.ts";
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
import type { Database } from "../platform/database/database.ts";
import { createPictureReader } from "../platform/media/create-picture-reader.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createSpool } from "../platform/storage/create-spool.ts";
import { openByteStore } from "../platform/storage/open-byte-store.ts";

type FilesOptions = {
  settings: Settings;
  database: Database;
  clock: Clock;
  ids: IdSource;
  counters: Counters;
  masterKey: MasterKey;
  logger: Logger;
};

const dayMs = 24 * 60 * 60 * 1000;
const hourMs = 60 * 60 * 1000;
/** A video of the longest kind at the highest quality; what an upstream sends beyond that is no video of ours. */
const outputBytesMax = 1024 * 1024 * 1024;

/** Files with their storage. */
export async function openFiles({ settings, database, clock, ids, counters, masterKey, logger }: FilesOptions) {
  const bytes = await openByteStore(settings);
  const spool = await createSpool({ folder: join(settings.data_dir, "spool") });
  const pictures = createPictureReader();
  const onTrouble = (error: unknown): void => logger.warn({ error }, "a file's bytes wait to be removed");
  const files: Files = createFiles({
    ...{ database, clock, ids, bytes, spool, pictures, counters, onTrouble },
    hasMoney: async (tx, accountId) =>
      (await hasFunds(tx, accountId, clock.now())) || (await findAccount(tx, accountId))?.planId !== null,
    linkKey: masterKey.derive("file-links"),
    siteUrl: settings.site_url,
    keyedRequests: createKeyedRequests({ database, clock, onTrouble, validityMs: settings.idempotency_hours * hourMs }),
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
  return {
    files,
    removeExpired: async (): Promise<void> => void (await files.removeExpired()),
    async close(): Promise<void> {
      await pictures.close();
      await bytes.close();
    },
  };
}

type KeyedRequestOptions = {
  database: Database;
  clock: Clock;
  onTrouble(error: unknown): void;
  validityMs: number;
};

/** Features of one rank do not know each other: files are handed what remembers requests. */
function createKeyedRequests({ database, clock, onTrouble, validityMs }: KeyedRequestOptions): KeyedRequests {
  const claims = {
    ...{ database, clock, validityMs },
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
