import { type Manifest, sumBytes } from "../features/backups/index.ts";

export function presentBackup(manifest: Manifest): string {
  const { id, taken_at, tables, files } = manifest;
  return `${id}: the database of ${taken_at} (${tables.length} tables) and ${files.count} files, ${presentSize(sumBytes(manifest))}.`;
}

export function presentBackupJson(manifest: Manifest): Record<string, unknown> {
  const { id, taken_at, files, secrets, tables } = manifest;
  return {
    ...{ id, complete: true, taken_at, tables: tables.length, files: files.count },
    ...{ bytes: sumBytes(manifest), secrets: secrets !== null },
  };
}

export function presentSize(bytes: number): string {
  const megabytes = bytes / 1_000_000;
  return megabytes >= 1000 ? `${(megabytes / 1000).toFixed(1)} GB` : `${megabytes.toFixed(1)} MB`;
}

/** What the operator is to do about the secret key. */
export function presentSecretAdvice({ includesSecret }: { includesSecret: boolean }): string {
  return includesSecret
    ? "The secret key is in it: keep it as safe as the key itself."
    : "The secret key is not in it: keep secret.key of data_dir, or secret_key of the settings, apart from it.";
}
