/**
 * Backups: the database and every file that it names, as of one moment, in a folder or a bucket; and copies made of them.
 *
 * Promises: what has a manifest is whole, and what was cut off has none. A backup never touches another. Nothing is written
 * by a restore before all of the backup was read and found undamaged, and only where nothing was. A restored copy is marked
 * as one, and spends, sends and deletes nothing until an operator confirms it.
 */
export { checkBackup } from "./check-backup.ts";
export { createBackup } from "./create-backup.ts";
export { createBaseBackup } from "./create-base-backup.ts";
export { getBackup, listBackups } from "./find-backups.ts";
export { type Manifest, sumBytes } from "./manifest.ts";
export { restoreBackup } from "./restore-backup.ts";
export { restoreMoment } from "./restore-moment.ts";
export { startLogShipping } from "./ship-log.ts";
