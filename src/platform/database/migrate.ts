import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import type { Database, DatabaseAddress } from "./database.ts";
import { locate } from "./database-address.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { makeMonthsStatement } from "./month-store.ts";

type AppliedMigration = { number: number; name: string; checksum: string; compatible_from: number | null };

/** How long a migration may take, and how long others wait for it. */
type MigrationLimits = {
  /** A statement waits so long for a lock, and so do the requests that queue up behind it; then it is tried again. */
  lockMs: number;
  /** Between two tries, for these requests. */
  pauseMs: number;
  /** For locks, and for another gateway that migrates: all of the waiting together. */
  waitMs: number;
  /** One statement, such as filling a column or building an index. The time-outs of requests are not for these. */
  statementMs: number;
};

const migrationLimits: MigrationLimits = {
  lockMs: 1000,
  pauseMs: 2000,
  waitMs: 5 * 60_000,
  statementMs: 60 * 60_000,
};

/** One node migrates at a time; the others wait and then find nothing left to do. */
const migrationLock = 7_264_002;
const connectMsMax = 5000;
/** Past its time-out a server that is there has answered. */
const answerMarginMs = 30_000;
const goodbyeMsMax = 2000;
const tellEveryMs = 10_000;

type MigrateOptions = {
  limits?: Partial<MigrationLimits>;
  /** Only tests have other files. */
  directory?: string;
  /** The last migration of a new database that is made to be filled, and a statement that goes into its transaction. */
  fresh?: { numberMax: number; conclude: string };
  onProgress?(sentence: string): void;
};

type Run = { client: pg.Client; limits: MigrationLimits; endMs: number; onProgress(sentence: string): void };

/**
 * Brings the database to the newest schema, and returns the names of what was new. Each migration is applied whole or not
 * at all, by a connection of its own, which ends with it.
 */
export async function migrate(address: DatabaseAddress, options: MigrateOptions = {}): Promise<string[]> {
  const limits = { ...migrationLimits, ...options.limits };
  if ("hosts" in address) await address.hosts.look();
  const client = new pg.Client({
    ...locate(address),
    application_name: "sluice-migrate",
    connectionTimeoutMillis: connectMsMax,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.statementMs + answerMarginMs,
    keepAlive: true,
  });
  // The statement that runs meanwhile fails with the same error, and tells it.
  client.on("error", () => {});
  await client.connect();
  const endMs = performance.now() + limits.waitMs;
  const run: Run = { client, limits, endMs, onProgress: options.onProgress ?? (() => {}) };
  try {
    await takeMigrationLock(run);
    await retry(run, "schema_migrations", () => prepareBookkeeping(client));
    const { rows: applied } = await client.query<AppliedMigration>(appliedStatement);
    const { fresh = { numberMax: Number.POSITIVE_INFINITY, conclude: "" } } = options;
    const known = readMigrations(options.directory).filter(({ number }) => number <= fresh.numberMax);
    const pending = decidePendingMigrations(known, applied);
    if (applied.length === 0) await createSchema(client, pending, fresh.conclude);
    else for (const migration of pending) await retry(run, migration.name, () => apply(client, migration));
    await validateChecks(run);
    await retry(run, "months", async () => void (await client.query(makeMonthsStatement)));
    return pending.map(({ name }) => name);
  } finally {
    await Promise.race([client.end().catch(() => {}), wait(goodbyeMsMax, undefined, { ref: false })]);
  }
}

/** Held by the connection until it ends, so that a gateway that dies leaves it to the next one. */
async function takeMigrationLock({ client, limits, endMs, onProgress }: Run): Promise<void> {
  let toldMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [migrationLock]);
    if (rows[0]?.taken === true) return;
    const nowMs = performance.now();
    if (nowMs >= endMs) {
      throw new OperatorError(
        `Another gateway has been migrating the database for ${presentSeconds(limits.waitMs)}.`,
        "Wait until it is done and start this one again; the log of that one says what it is doing.",
      );
    }
    if (nowMs - toldMs >= tellEveryMs) {
      onProgress("Another gateway migrates the database; waiting for it …");
      toldMs = nowMs;
    }
    await wait(Math.min(limits.pauseMs, 500));
  }
}

async function prepareBookkeeping(client: pg.Client): Promise<void> {
  await client.query(`
    create table if not exists schema_migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query(`
    select 1 from pg_attribute
    where attrelid = 'schema_migrations'::regclass and attname = 'compatible_from' and not attisdropped`);
  // Looked for first: a table that is read by others is not to be locked for nothing.
  if (rows.length === 0) await client.query("alter table schema_migrations add column compatible_from integer");
}

/** Tries again what did not get its locks in time, which others held; whoever waited behind it went on meanwhile. */
async function retry(run: Run, name: string, work: () => Promise<void>): Promise<void> {
  const { client, limits, endMs, onProgress } = run;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockFailure(error)) throw explainFailure(name, error);
      const holders = await describeHolders(client);
      if (performance.now() >= endMs) throw createLockError(name, limits, holders);
      onProgress(
        `The migration ${name} waits for a lock (try ${tries})${holders === "" ? "" : `; open are ${holders}`}`,
      );
      await wait(limits.pauseMs);
    }
  }
}

/** A new database gets everything at once: whoever looks sees nothing of it or all. Nobody is there to be held up. */
async function createSchema(client: pg.Client, migrations: readonly Migration[], conclude: string): Promise<void> {
  await inTransaction(client, async () => {
    for (const migration of migrations) {
      try {
        await client.query(migration.statements.replaceAll(/\b(index) concurrently\b/gi, "$1"));
        await noteApplied(client, migration);
      } catch (error) {
        throw explainFailure(migration.name, error);
      }
    }
    if (conclude !== "") await client.query(conclude);
  });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  if (!migration.isInTransaction) {
    await applyInSteps(client, migration);
    return;
  }
  await inTransaction(client, async () => {
    await client.query(migration.statements);
    await noteApplied(client, migration);
  });
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    // The first error says more than one that comes of it.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/**
 * Statements that cannot be in a transaction, such as concurrent builds of indexes. These wait for transactions to end, but
 * nobody waits for them, so that they have no time-out for locks. One that was cut off left an index that is not valid.
 */
async function applyInSteps(client: pg.Client, migration: Migration): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_index join pg_class on pg_class.oid = indexrelid
     where not indisvalid and relname = any($1) and relnamespace = current_schema()::regnamespace`,
    [migration.indexNames],
  );
  await client.query("set lock_timeout = 0");
  for (const { name } of rows) await client.query(`drop index concurrently if exists ${name}`);
  for (const statement of migration.steps) await client.query(statement);
  await client.query("reset lock_timeout");
  await noteApplied(client, migration);
}

async function noteApplied(client: pg.Client, { number, name, checksum, compatibleFrom }: Migration): Promise<void> {
  await client.query(
    "insert into schema_migrations (number, name, checksum, compatible_from) values ($1, $2, $3, $4)",
    [number, name, checksum, compatibleFrom],
  );
}

/**
 * A check that a migration adds as `not valid` holds for new rows at once. The old ones are read afterwards, each table in a
 * transaction of its own, which keeps nobody from writing; a node that dies meanwhile leaves it to the next one.
 */
async function validateChecks(run: Run): Promise<void> {
  const { rows } = await run.client.query<{ table: string; name: string }>(`
    select conrelid::regclass::text as "table", quote_ident(conname) as name from pg_constraint
    where contype = 'c' and not convalidated and connamespace = current_schema()::regnamespace
    order by 1, 2`);
  for (const { table, name } of rows) {
    await retry(run, `check ${name}`, async () => {
      await run.client.query(`alter table ${table} validate constraint ${name}`);
    });
  }
}

/** Not granted in time, or given up because two waited for each other. */
function isLockFailure(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "55P03" || error.code === "40P01");
}

/** A server that went away is no fault of the migration. */
function explainFailure(name: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || /^(08|53|57P)/.test(error.code ?? "")) return error;
  return new OperatorError(
    `The migration ${name} failed: ${error.message} (${error.code}).`,
    "Nothing of it was kept, and gateways of the version before go on. Mend what it says, or report it, and migrate again.",
    { cause: error },
  );
}

function createLockError(name: string, { waitMs }: MigrationLimits, holders: string): OperatorError {
  return new OperatorError(
    `The migration ${name} did not get its locks within ${presentSeconds(waitMs)}${holders === "" ? "" : `: open are ${holders}`}.`,
    "End these transactions, or wait for them, and migrate again: npm run -s sluice -- migrate. Gateways of the version before go on.",
  );
}

/** The transactions that have been open for longest, for whoever has to end them. */
async function describeHolders(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; application_name: string; seconds: number }>(`
    select pid, application_name, extract(epoch from now() - xact_start)::integer as seconds from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '1 second'
    order by xact_start limit 3`);
  return rows
    .map(({ pid, application_name: program, seconds }) => `process ${pid} (${program || "unnamed"}, ${seconds} s)`)
    .join(", ");
}

function presentSeconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}

/** Refuses a database whose schema is not the one of this code, or not one that it can run on. */
export async function requireMigrated(database: Database): Promise<void> {
  const pending = await listPendingMigrations(database);
  if (pending.length === 0) return;
  throw new OperatorError(
    `The database lacks ${pending.length === 1 ? "the migration" : `${pending.length} migrations, the first of which is`} ${pending[0]}.`,
    "Apply what is missing: npm run -s sluice -- migrate. A gateway that starts does the same.",
  );
}

/** The names of the migrations that `migrate` would apply. */
export async function listPendingMigrations(database: Database): Promise<string[]> {
  return decidePendingMigrations(readMigrations(), await listApplied(database)).map(({ name }) => name);
}

/** Whether no gateway has ever used the database. */
export async function isNewDatabase(database: Database): Promise<boolean> {
  return (await listApplied(database)).length === 0;
}

async function listApplied(database: Database): Promise<AppliedMigration[]> {
  const { rows } = await sql<{ found: string | null }>`select to_regclass('schema_migrations')::text as found`.execute(
    database,
  );
  if (rows[0]?.found === null) return [];
  return (await sql.raw<AppliedMigration>(appliedStatement).execute(database)).rows;
}

/** As JSON, because databases that no newer gateway has migrated lack the last column. */
const appliedStatement = `
  select number, name, checksum, (to_jsonb(schema_migrations) ->> 'compatible_from')::integer as compatible_from
  from schema_migrations order by number`;

/** Refuses a database that was made by other files than these, or by newer ones that this code cannot run on. */
export function decidePendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const newestNumber = known.at(-1)?.number ?? 0;
  for (const [index, done] of applied.entries()) {
    const migration = known[index];
    if (migration === undefined) {
      if ((done.compatible_from ?? 0) <= newestNumber) continue;
      throw new OperatorError(
        `The database was written by a newer Sluice, and this version cannot run on it any more (it has the migration ${done.name}).`,
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
