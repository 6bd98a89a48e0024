import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { OperatorError } from "../errors/operator-error.ts";
import type { Database } from "./database.ts";

export type Migration = { number: number; name: string; checksum: string; statements: string };

type AppliedMigration = { number: number; name: string; checksum: string };

/** One node migrates at a time; the others wait and then find nothing left to do. */
const migrationLock = 7_264_002;

const migrationsDir = join(import.meta.dirname, "../../../migrations");

/** Brings the database to the newest schema, all or nothing, and returns the names of what was new. */
export async function migrate(database: Database): Promise<string[]> {
  const known = readMigrations();
  const added = await database.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
    await sql`
      create table if not exists schema_migrations (
        number integer primary key,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`.execute(tx);
    const pending = decidePendingMigrations(known, await listAppliedMigrations(tx));
    for (const migration of pending) {
      await sql.raw(migration.statements).execute(tx);
      await sql`
        insert into schema_migrations (number, name, checksum)
        values (${migration.number}, ${migration.name}, ${migration.checksum})`.execute(tx);
    }
    return pending.map((migration) => migration.name);
  });
  await validateChecks(database);
  return added;
}

/**
 * A check that a migration adds as `not valid` holds for new rows at once. The old ones are read afterwards, each table in a
 * transaction of its own, which keeps nobody from writing; a node that dies meanwhile leaves it to the next one.
 */
async function validateChecks(database: Database): Promise<void> {
  const { rows } = await sql<{ table: string; name: string }>`
    select conrelid::regclass::text as "table", quote_ident(conname) as name from pg_constraint
    where contype = 'c' and not convalidated and connamespace = current_schema()::regnamespace
    order by 1, 2`.execute(database);
  for (const { table, name } of rows)
    await sql.raw(`alter table ${table} validate constraint ${name}`).execute(database);
}

/** The names of the migrations that `migrate` would apply. */
export async function listPendingMigrations(database: Database): Promise<string[]> {
  const { rows } = await sql<{ found: string | null }>`select to_regclass('schema_migrations')::text as found`.execute(
    database,
  );
  const applied = rows[0]?.found === null ? [] : await listAppliedMigrations(database);
  return decidePendingMigrations(readMigrations(), applied).map((migration) => migration.name);
}

async function listAppliedMigrations(database: Database): Promise<AppliedMigration[]> {
  const { rows } = await sql<AppliedMigration>`
    select number, name, checksum from schema_migrations order by number`.execute(database);
  return rows;
}

/** Refuses a database that is ahead of this code or was made by other files than these. */
export function decidePendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  for (const [index, done] of applied.entries()) {
    const migration = known[index];
    if (migration === undefined) {
      throw new OperatorError(
        `The database was written by a newer Sluice (it has the migration ${done.name}).`,
        "Start that version or a newer one, or use another data_dir or database.",
      );
    }
    if (migration.number !== done.number || migration.checksum !== done.checksum) {
      throw new OperatorError(
        `The migration ${migration.name} is not the one that the database was made with (${done.name}).`,
        "Bring the file in migrations/ back to what it was; changes belong into a new migration.",
      );
    }
  }
  return known.slice(applied.length);
}

function readMigrations(): Migration[] {
  return readdirSync(migrationsDir)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .toSorted()
    .map((file) => {
      const statements = readFileSync(join(migrationsDir, file), "utf8");
      return {
        number: Number(file.slice(0, 4)),
        name: file.replace(/\.sql$/, ""),
        checksum: createHash("sha256").update(statements).digest("hex"),
        statements,
      };
    });
}
