import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";

/**
 * A data directory of its own whose database has its files already, for tests that are not about a first start. Nobody has
 * used it: a gateway migrates it and makes its secrets, as in an empty directory, for half of the work.
 */
export function createPreparedDirectory(): Disposable & { path: string } {
  const prepared = inject("preparedDirectory");
  const path = mkdtempSync(join(dirname(prepared), "sluice-data-"));
  // Keeps whose the files are: where root may not make user namespaces, they are nobody's.
  execFileSync("cp", ["-a", `${prepared}/.`, path]);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
