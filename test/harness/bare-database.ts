import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { presentSocketUrl } from "./test-database.ts";

/** A database without Sluice's schema, in which only these statements ran. */
export async function createBareDatabase(statements = ""): Promise<string> {
  const server = inject("databaseServer");
  const name = `bare_${randomBytes(8).toString("hex")}`;
  await query({ ...server, database: "postgres" }, `create database ${name}`);
  await query({ ...server, database: name }, statements);
  return presentSocketUrl(server, name);
}

async function query(config: pg.ClientConfig, statements: string): Promise<void> {
  const client = new pg.Client(config);
  await client.connect();
  await client.query(statements);
  await client.end();
}
