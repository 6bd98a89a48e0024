import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openDatabase } from "../../src/platform/database/open-database.ts";
import { describeSchema } from "./describe-schema.ts";

const scratchObjects = `
  create table scratch_rows (
    id bigint generated always as identity primary key,
    label text not null,
    labels text[] not null default '{}',
    seen_at timestamptz,
    made_at timestamptz not null default now(),
    total bigint not null,
    rank integer,
    level smallint not null,
    is_open boolean not null default true,
    hash bytea,
    content jsonb not null,
    note jsonb,
    price numeric(12, 4) not null,
    doubled bigint generated always as (total * 2) stored,
    constraint scratch_rows_total_valid check (total >= 0),
    constraint scratch_rows_label_unique unique (label)
  );
  create index scratch_rows_by_rank on scratch_rows (rank, level) where is_open;
  create function scratch_refuse() returns trigger language plpgsql as $$ begin return null; end $$;
  create trigger scratch_rows_final before delete on scratch_rows for each row execute function scratch_refuse();`;

const scratchSql = `create table scratch_rows (
  id bigint not null generated always as identity,
  label text not null,
  labels text[] not null default '{}'::text[],
  seen_at timestamp with time zone,
  made_at timestamp with time zone not null default now(),
  total bigint not null,
  rank integer,
  level smallint not null,
  is_open boolean not null default true,
  hash bytea,
  content jsonb not null,
  note jsonb,
  price numeric(12,4) not null,
  doubled bigint generated always as (total * 2),
  constraint scratch_rows_label_unique UNIQUE (label),
  constraint scratch_rows_pkey PRIMARY KEY (id),
  constraint scratch_rows_total_valid CHECK (total >= 0)
);

CREATE INDEX scratch_rows_by_rank ON scratch_rows USING btree (rank, level) WHERE is_open;

CREATE TRIGGER scratch_rows_final BEFORE DELETE ON scratch_rows FOR EACH ROW EXECUTE FUNCTION scratch_refuse();
`;

const scratchFunction = "CREATE OR REPLACE FUNCTION public.scratch_refuse()";

const scratchType = `
type ScratchRowsTable = {
  id: Generated<bigint>;
  label: string;
  labels: Generated<string[]>;
  seen_at: Date | null;
  made_at: Generated<Date>;
  total: bigint;
  rank: number | null;
  level: number;
  is_open: Generated<boolean>;
  hash: Buffer | null;
  content: unknown;
  note: unknown;
  price: string;
  doubled: Generated<bigint | null>;
};
`;

const dataDir = mkdtempSync(join(tmpdir(), "sluice-schema-"));
let database: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  const opened = await openDatabase({
    url: undefined,
    dataDir,
    purpose: "command",
    connectionsMax: 2,
    onProgress: () => {},
    onConnectionError: throwError,
    onLost: throwError,
  });
  ({ database, close } = opened);
  await migrate(opened.address);
});

afterAll(async () => {
  await close();
  rmSync(dataDir, { recursive: true });
});

test("describes the migrated tables, without the migrations table in the types", async () => {
  const { schemaSql, tablesTs } = await describeWith("");
  expect(schemaSql).toMatch(
    /^-- Written by `npm run generate` from the migrations; for reading, never run\.\n\ncreate /,
  );
  expect(schemaSql).toContain("create table schema_migrations (\n  number integer not null,\n");
  expect(tablesTs).toMatch(/^\/\/ Written by `npm run generate` from the migrations\.\n/);
  expect(tablesTs).toContain("  accounts: AccountsTable;\n");
  expect(tablesTs).toContain("  api_keys: ApiKeysTable;\n");
  expect(tablesTs).not.toContain("migrations:");
});

test("describes every kind of column, constraint, index, trigger and function", async () => {
  const { schemaSql, tablesTs } = await describeWith(scratchObjects);
  expect(schemaSql).toContain(scratchSql);
  expect(schemaSql).toContain(scratchFunction);
  expect(tablesTs).toContain(scratchType);
  expect(tablesTs).toContain('import type { Generated } from "kysely";\n\nexport type Tables = {\n');
});

test("omits an unused import", async () => {
  const { tablesTs } = await describeWith("drop schema public cascade; create schema public; create table t (a text)");
  expect(tablesTs).toBe(
    "// Written by `npm run generate` from the migrations.\n\n" +
      "export type Tables = {\n  t: TTable;\n};\n\ntype TTable = {\n  a: string | null;\n};\n",
  );
});

test("the same schema gives the same text, already formatted", async () => {
  const described = await describeWith(scratchObjects);
  expect(await describeWith(scratchObjects)).toEqual(described);
  const biome = join(import.meta.dirname, "../../node_modules/.bin/biome");
  const words = ["check", "--write", "--stdin-file-path=src/platform/database/tables.ts"];
  expect(execFileSync(biome, words, { input: described.tablesTs, encoding: "utf8" })).toBe(described.tablesTs);
});

test("an unknown column type throws with the column's name", async () => {
  const described = describeWith("create table scratch_rows (id text, place point)");
  await expect(described).rejects.toThrow("scratch_rows.place is of the type point");
});

/** Describes the migrated schema plus some statements, which are rolled back afterwards. */
async function describeWith(statements: string): ReturnType<typeof describeSchema> {
  const tx = await database.startTransaction().execute();
  try {
    await sql.raw(statements === "" ? "select 1" : statements).execute(tx);
    return await describeSchema(async (statement) => {
      const { rows } = await sql.raw<Record<string, unknown>>(statement).execute(tx);
      return rows;
    });
  } finally {
    await tx.rollback().execute();
  }
}

function throwError(error: Error): never {
  throw error;
}
