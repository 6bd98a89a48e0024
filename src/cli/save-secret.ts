import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a secret to a file with mode 0600, because standard output may be a log. Returns the path. */
export function saveSecret(dataDir: string, name: string, secret: string): string {
  const folder = join(dataDir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}
