import { type Manifest, sumBytes } from "../features/backups/index.ts";

export function presentBackup(manifest: Manifest): string {
  const { id, taken_at, tables, files } = manifest;
  return `${id}: database of ${taken_at} (${tables.length} tables) and ${files.count} files, ${presentSize(sumBytes(manifest))}.`;
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

export function presentSecretAdvice({ includesSecret }: { includesSecret: boolean }): string {
  return includesSecret
    ? "The backup contains the secret key: protect it like the key itself."
    : "The backup does not contain the secret key: store secret.key of data_dir, or the setting secret_key, separately.";
}
