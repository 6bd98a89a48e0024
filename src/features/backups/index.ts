/**
 * Backups: the database and every file in it, as of one moment, in a folder or a bucket; and restored copies.
 *
 * Promises: a backup with a manifest is complete, and an interrupted one has none. A backup never touches another. A
 * restore verifies the whole backup before it writes anything, and writes only into an empty place. A restored copy is
 * marked as one, and spends, sends and deletes nothing until an operator confirms it.
 */
export { checkBackup } from "./check-backup.ts";
export { createBackup } from "./create-backup.ts";
export { createBaseBackup } from "./create-base-backup.ts";
export { getBackup, listBackups } from "./find-backups.ts";
export { type Manifest, sumBytes } from "./manifest.ts";
export { restoreBackup } from "./restore-backup.ts";
export { restoreMoment } from "./restore-moment.ts";
export { startLogShipping } from "./ship-log.ts";
