import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import type { Database, DatabaseAddress } from "./database.ts";
import { locate } from "./database-address.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { makeMonthsStatement } from "./month-store.ts";

type AppliedMigration = { number: number; name: string; checksum: string; compatible_from: number | null };

type MigrationLimits = {
  /** `lock_timeout` of a statement. Requests queue up behind it for as long, so it is short, and the statement is retried. */
  lockMs: number;
  /** Between two tries, so that the queued requests run. */
  pauseMs: number;
  /** In total, for locks and for another gateway that migrates. */
  waitMs: number;
  /** `statement_timeout`: longer than for requests, because a statement may fill a column or build an index. */
  statementMs: number;
};

const migrationLimits: MigrationLimits = {
  lockMs: 1000,
  pauseMs: 2000,
  waitMs: 5 * 60_000,
  statementMs: 60 * 60_000,
};

/** An advisory lock: one node migrates at a time, the others wait and then find nothing to do. */
const migrationLock = 7_264_002;
const connectMsMax = 5000;
/** Added to `statement_timeout` on the client: a server that has not answered by then is gone. */
const answerMarginMs = 30_000;
const closeMsMax = 2000;
const reportEveryMs = 10_000;
/** The first migration of databases from before 0.2.0. Nothing before 0.2.0 was released, so they cannot be upgraded. */
const unreleasedFirstName = "0001-accounts-and-keys";

type MigrateOptions = {
  limits?: Partial<MigrationLimits>;
  /** For tests. */
  directory?: string;
  /** For restores into a new database: the backup's last migration, and a statement that runs in the same transaction. */
  fresh?: { numberMax: number; conclude: string };
  onProgress?(sentence: string): void;
};

type Run = { client: pg.Client; limits: MigrationLimits; endMs: number; onProgress(sentence: string): void };

/**
 * Applies the pending migrations over a connection of its own, and returns their names. Each migration is atomic, except for
 * those marked `-- no transaction`.
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
  // The running statement fails with the same error.
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
    await Promise.race([client.end().catch(() => {}), wait(closeMsMax, undefined, { ref: false })]);
  }
}

/** The lock is held until the connection ends, so a gateway that dies releases it. */
async function takeMigrationLock({ client, limits, endMs, onProgress }: Run): Promise<void> {
  let reportedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [migrationLock]);
    if (rows[0]?.taken === true) return;
    const nowMs = performance.now();
    if (nowMs >= endMs) {
      throw new OperatorError(
        `Another gateway has been migrating the database for ${presentSeconds(limits.waitMs)}.`,
        "Check that gateway's log, wait until it has finished, then start this one again.",
      );
    }
    if (nowMs - reportedMs >= reportEveryMs) {
      onProgress("Waiting for another gateway that is migrating the database …");
      reportedMs = nowMs;
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
      applied_at timestamptz not null default now(),
      compatible_from integer
    )`);
}

/** Retries on `lock_timeout` and deadlock until the time is up; requests run in the pauses. */
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
        `The migration ${name} is waiting for a lock (try ${tries})${holders === "" ? "" : `. Open transactions: ${holders}`}`,
      );
      await wait(limits.pauseMs);
    }
  }
}

/** One transaction for a new database: other connections see an empty database or a complete one. */
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
    // Report the first error, not one of the rollback.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/**
 * For statements that cannot run in a transaction, such as `create index concurrently`. They have no `lock_timeout`, because
 * requests do not queue up behind them. An interrupted build leaves an invalid index, which is dropped first.
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
 * Validates checks that migrations added as `not valid`, each in its own transaction, which does not block writes. A check
 * that is still invalid after a crash is validated by the next run.
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

/** `lock_not_available` or `deadlock_detected`. */
function isLockFailure(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "55P03" || error.code === "40P01");
}

/** Lost connections and shutdowns are not the migration's fault. */
function explainFailure(name: string, error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || /^(08|53|57P)/.test(error.code ?? "")) return error;
  return new OperatorError(
    `The migration ${name} failed: ${error.message} (${error.code}).`,
    "It was rolled back, and running gateways are not affected. Fix the cause or report it, then migrate again.",
    { cause: error },
  );
}

function createLockError(name: string, { waitMs }: MigrationLimits, holders: string): OperatorError {
  return new OperatorError(
    `The migration ${name} did not get its locks within ${presentSeconds(waitMs)}${holders === "" ? "" : `. Open transactions: ${holders}`}.`,
    "End these transactions or wait for them, then migrate again: npm run -s sluice -- migrate. Running gateways are not affected.",
  );
}

/** The three oldest open transactions. */
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

/** Throws unless this code can run on the database's schema as it is. */
export async function requireMigrated(database: Database): Promise<void> {
  const pending = await listPendingMigrations(database);
  if (pending.length === 0) return;
  throw new OperatorError(
    `The database lacks ${pending.length === 1 ? "the migration" : `${pending.length} migrations, the first of which is`} ${pending[0]}.`,
    "Apply it: npm run -s sluice -- migrate. A gateway also does this when it starts.",
  );
}

/** The names of the migrations that `migrate` would apply. */
export async function listPendingMigrations(database: Database): Promise<string[]> {
  return decidePendingMigrations(readMigrations(), await listApplied(database)).map(({ name }) => name);
}

/** Whether the database has no schema yet. */
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

/** Through JSON, because databases from before 0.2.0 may lack the last column; they must get the right error below. */
const appliedStatement = `
  select number, name, checksum, (to_jsonb(schema_migrations) ->> 'compatible_from')::integer as compatible_from
  from schema_migrations order by number`;

/** Throws if the database was made by other migrations, or by newer ones that this code is not compatible with. */
export function decidePendingMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  if (applied[0]?.name === unreleasedFirstName) throw createUnreleasedError(applied);
  const newestNumber = known.at(-1)?.number ?? 0;
  for (const [index, done] of applied.entries()) {
    const migration = known[index];
    if (migration === undefined) {
      if ((done.compatible_from ?? 0) <= newestNumber) continue;
      throw new OperatorError(
        `The database was migrated by a newer Sluice, and this version cannot run on it (migration ${done.name}).`,
        "Start that version or a newer one, or use another data_dir or database.",
      );
    }
    if (migration.number !== done.number || migration.checksum !== done.checksum) {
      throw new OperatorError(
        `The migration ${migration.name} differs from the one that was applied to the database (${done.name}).`,
        "Restore the original file in migrations/, and put changes into a new migration.",
      );
    }
  }
  return known.slice(applied.length);
}

function createUnreleasedError(applied: readonly AppliedMigration[]): OperatorError {
  return new OperatorError(
    `The database was made by a development version before 0.2.0 (migrations ${applied[0]?.name} to ${applied.at(-1)?.name}). It cannot be upgraded, and was not changed.`,
    "Start with an empty database or data_dir. To keep the old data, run the version that made it and export what you need.",
  );
}
