import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ownCheckout = join(import.meta.dirname, "..");

/**
 * The files of a commit in a folder with its name, until the process exits. It uses this checkout's packages and pages if
 * the commit has the same lock file. Otherwise it installs its own, which takes a minute.
 */
export function checkOut(commit: string): string {
  const parent = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  process.once("exit", () => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, commit.replaceAll("/", "-"));
  mkdirSync(join(folder, "dist"), { recursive: true });
  const archive = join(parent, "files.tar");
  execFileSync("git", ["archive", "--output", archive, commit], {
    cwd: ownCheckout,
    stdio: ["ignore", "ignore", "pipe"],
  });
  execFileSync("tar", ["--extract", "--file", archive, "--directory", folder]);
  if (readLock(folder) === readLock(ownCheckout)) {
    for (const name of ["node_modules", "dist/web"]) symlinkSync(join(ownCheckout, name), join(folder, name));
  } else {
    execFileSync(process.execPath, ["scripts/ensure-installed.mjs"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return folder;
}

function readLock(folder: string): string {
  return readFileSync(join(folder, "package-lock.json"), "utf8");
}
