import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Puts a secret where only its owner reads it, for when standard output may be a log. Returns the file's path. */
export function keepSecret(dataDir: string, name: string, secret: string): string {
  const folder = join(dataDir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return path;
}
