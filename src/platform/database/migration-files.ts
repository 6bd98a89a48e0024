import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Migration = {
  number: number;
  name: string;
  checksum: string;
  statements: string;
  /** False if its first line is `-- no transaction`: it builds indexes concurrently. */
  isInTransaction: boolean;
  /** Its single statements, without a transaction. */
  steps: readonly string[];
  /** The indexes that it builds, without a transaction. */
  indexNames: readonly string[];
  /**
   * `-- compatible from 0031`: code whose newest migration is older than 0031 refuses to run on this schema. Without such a
   * line, all older code can.
   */
  compatibleFrom: number | null;
};

const migrationsDir = join(import.meta.dirname, "../../../migrations");

export function readMigrations(directory = migrationsDir): Migration[] {
  return readdirSync(directory)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .toSorted()
    .map((file) => parseMigration(file, readFileSync(join(directory, file), "utf8")));
}

export function parseMigration(file: string, statements: string): Migration {
  const isInTransaction = !/^-- no transaction\n/.test(statements);
  const compatibleFrom = /^-- compatible from (\d{4})$/m.exec(statements)?.[1];
  return {
    number: Number(file.slice(0, 4)),
    name: file.replace(/\.sql$/, ""),
    checksum: createHash("sha256").update(statements).digest("hex"),
    statements,
    isInTransaction,
    steps: isInTransaction ? [] : splitSteps(statements),
    indexNames: [...statements.matchAll(/^create (?:unique )?index concurrently if not exists (\S+)/gm)].map(
      ([, name = ""]) => name,
    ),
    compatibleFrom: compatibleFrom === undefined ? null : Number(compatibleFrom),
  };
}

/** A statement ends at the end of a line. */
function splitSteps(statements: string): string[] {
  return statements
    .replaceAll(/^--.*$/gm, "")
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
