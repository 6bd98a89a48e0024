import pg from "pg";
import { OperatorError } from "../errors/operator-error.ts";
import { connectForCopy } from "./connect-for-copy.ts";
import { copyStateTable, markUnconfirmed } from "./copy-state.ts";
import { copyIn, copyOut } from "./copy-stream.ts";
import type { DatabaseAddress } from "./database.ts";

/** The applied migrations: stored in a backup, applied again by a restore. */
type AppliedSchema = readonly { number: number; name: string; checksum: string }[];

export type TableShape = { name: string; columns: readonly string[] };

/** A partition that was created after the migrations, such as a month's. */
type PartitionShape = { name: string; parent: string; bound: string; options?: string };

type SequenceValue = { name: string; value: string };

/** A whole database as of one moment. */
export type DatabaseSnapshot = {
  takenAt: Date;
  serverVersion: string;
  schema: AppliedSchema;
  tables: readonly TableShape[];
  partitions: readonly PartitionShape[];
  /** A table's rows in `COPY`'s text format, which any server version reads. */
  readTable(table: TableShape): AsyncIterable<Buffer>;
  /** A query's rows, in the same format. */
  readQuery(query: string): AsyncIterable<Buffer>;
  /** Call it after reading the tables: sequences are not part of the snapshot, and may be ahead of the rows but never behind. */
  readSequences(): Promise<SequenceValue[]>;
  close(): Promise<void>;
};

/** Not copied: written by migrations, or about this very database. */
const ownTables: readonly string[] = ["schema_migrations", copyStateTable];

const plainSession = `
  set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
  set extra_float_digits = 1; set client_encoding = 'UTF8';
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`;

const schemaQuery = "select number, name, checksum from schema_migrations order by number";

/** The caller holds the backup lock. */
export async function openSnapshot(address: DatabaseAddress): Promise<DatabaseSnapshot> {
  const client = await connectForCopy(address, "sluice-backup");
  try {
    await client.query(plainSession);
    const before = (await client.query(schemaQuery)).rows;
    const tables = await listTables(client);
    await client.query("begin isolation level repeatable read, read only");
    // Before the first query, which takes the snapshot: keeps migrations from altering the tables.
    await client.query(`lock table ${tables.map(({ name }) => quote(name)).join(", ")} in access share mode`);
    const schema: AppliedSchema = (await client.query(schemaQuery)).rows;
    if (JSON.stringify(schema) !== JSON.stringify(before)) {
      throw new OperatorError("The database was migrated just now.", "Run the backup again.");
    }
    const { rows } = await client.query("select now() as taken_at, current_setting('server_version') as version");
    return {
      ...{ takenAt: rows[0].taken_at, serverVersion: rows[0].version },
      ...{ schema, tables, partitions: await listPartitions(client) },
      readTable: ({ name, columns }) =>
        copyOut(client, `copy (select ${columns.map(quote).join(", ")} from ${quote(name)}) to stdout`),
      readQuery: (query) => copyOut(client, `copy (${query}) to stdout`),
      readSequences: () => listSequences(client),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Partitioned tables without their partitions: rows are read and restored through the parent. */
async function listTables(client: pg.Client): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape>(
    `select relname as name, array_agg(attname::text order by attnum) as columns
       from pg_class join pg_attribute on attrelid = pg_class.oid
       where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
         and attnum > 0 and not attisdropped and attgenerated = '' and relname <> all ($1)
       group by relname order by relname`,
    [ownTables],
  );
  return rows;
}

/** Replaces the partitions of the new database's months by those of the backup. */
async function remakePartitions(client: pg.Client, wanted: readonly PartitionShape[]): Promise<void> {
  const own = await listPartitions(client);
  const isSame = (one: PartitionShape, other: PartitionShape) => one.name === other.name && one.bound === other.bound;
  for (const part of own.filter((one) => !wanted.some((other) => isSame(one, other)))) {
    await client.query(`drop table ${quote(part.name)}`);
  }
  for (const part of wanted.filter((one) => !own.some((other) => isSame(one, other)))) {
    await client.query(
      `create table ${quote(part.name)} partition of ${part.parent} ${part.bound} ${part.options ?? ""}`,
    );
  }
}

async function listPartitions(client: pg.Client): Promise<PartitionShape[]> {
  const { rows } = await client.query<PartitionShape>(
    `select part.relname as name, inhparent::regclass::text as parent, pg_get_expr(part.relpartbound, part.oid) as bound,
         coalesce('with (' || array_to_string(part.reloptions, ', ') || ')', '') as options
       from pg_class part join pg_inherits on inhrelid = part.oid
       where part.relnamespace = current_schema()::regnamespace and part.relkind = 'r' and part.relispartition
       order by part.relname`,
  );
  return rows;
}

async function listSequences(client: pg.Client): Promise<SequenceValue[]> {
  const { rows } = await client.query<SequenceValue>(
    `select sequencename as name, last_value::text as value from pg_sequences
       where schemaname = current_schema() and last_value is not null order by sequencename`,
  );
  return rows;
}

export type DatabaseContent = {
  schema: AppliedSchema;
  tables: readonly TableShape[];
  partitions: readonly PartitionShape[];
  sequences: readonly SequenceValue[];
  /** A table's rows. */
  read(table: TableShape): AsyncIterable<Buffer>;
};

/**
 * Replaces the rows of all tables in one transaction, and marks the database as an unconfirmed copy. The schema must be the
 * content's.
 */
export async function fillDatabase(address: DatabaseAddress, content: DatabaseContent, from: string): Promise<void> {
  const client = await connectForCopy(address, "sluice-restore");
  try {
    await client.query(plainSession);
    requireSameSchema((await client.query(schemaQuery)).rows, content.schema);
    await client.query("begin");
    const names = content.tables.map(({ name }) => quote(name));
    await client.query(`truncate ${names.join(", ")}`);
    await remakePartitions(client, content.partitions);
    // Foreign keys are dropped and added again at the end, which checks all rows at once.
    const references = await listReferences(client);
    for (const { table, name } of references) await client.query(`alter table ${table} drop constraint ${name}`);
    for (const name of names) await client.query(`alter table ${name} disable trigger user`);
    for (const table of content.tables) {
      const columns = table.columns.map(quote).join(", ");
      await copyIn(client, `copy ${quote(table.name)} (${columns}) from stdin`, content.read(table));
    }
    for (const { name, value } of content.sequences) {
      await client.query("select setval(quote_ident($1)::regclass, $2::bigint)", [name, value]);
    }
    for (const name of names) await client.query(`alter table ${name} enable trigger user`);
    for (const { table, name, definition } of references) {
      await client.query(`alter table ${table} add constraint ${name} ${definition}`);
    }
    await markUnconfirmed(client, from);
    await client.query("commit");
    await client.query("analyze");
  } finally {
    await client.end();
  }
}

function requireSameSchema(there: AppliedSchema, wanted: AppliedSchema): void {
  if (JSON.stringify(there) === JSON.stringify(wanted)) return;
  throw new OperatorError(
    "The database has another schema than the backup: a restore of another backup was interrupted here.",
    "Restore into a new database or an empty data directory.",
  );
}

type Reference = { table: string; name: string; definition: string };

async function listReferences(client: pg.Client): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0
       order by 1, 2`,
  );
  return rows;
}

export async function listTableNames(address: DatabaseAddress): Promise<string[]> {
  const client = await connectForCopy(address, "sluice-restore");
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
         where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'
         order by relname`,
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

function quote(name: string): string {
  return pg.escapeIdentifier(name);
}
