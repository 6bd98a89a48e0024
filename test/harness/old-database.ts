import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { repositoryDir } from "./repository-files.ts";
import { presentSocketUrl } from "./test-database.ts";

const migrationsDir = join(repositoryDir, "migrations");

/** A database as an earlier version left it: with the migrations up to a number, and what was written then. */
export async function createOldDatabase(lastNumber: number, statements: string): Promise<string> {
  const server = inject("databaseServer");
  const name = `old_${randomBytes(8).toString("hex")}`;
  await query({ ...server, database: "postgres" }, `create database ${name}`);
  const files = readdirSync(migrationsDir).filter(
    (file) => /^\d{4}-/.test(file) && Number(file.slice(0, 4)) <= lastNumber,
  );
  const applied = files.toSorted().map((file) => {
    const text = readFileSync(join(migrationsDir, file), "utf8");
    const checksum = createHash("sha256").update(text).digest("hex");
    // All at once, as a new database gets them.
    return `${text.replaceAll(/\b(index) concurrently\b/gi, "$1")}; insert into schema_migrations (number, name, checksum)
      values (${Number(file.slice(0, 4))}, '${file.replace(/\.sql$/, "")}', '${checksum}');`;
  });
  const bookkeeping = `create table schema_migrations (number integer primary key, name text not null,
    checksum text not null, applied_at timestamptz not null default now());`;
  await query({ ...server, database: name }, `${bookkeeping}${applied.join("")}${statements}`);
  return presentSocketUrl(server, name);
}

async function query(config: pg.ClientConfig, statements: string): Promise<void> {
  const client = new pg.Client(config);
  await client.connect();
  await client.query(statements);
  await client.end();
}
