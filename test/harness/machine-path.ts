import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A PATH with all programs of this machine except some, as on a machine without them. */
export function createMachinePath({ without }: { without: readonly string[] }): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "sluice-path-"));
  for (const folder of ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].filter(existsSync)) {
    for (const name of readdirSync(folder)) {
      const link = join(path, name);
      if (!without.includes(name) && !existsSync(link)) symlinkSync(join(folder, name), link);
    }
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
