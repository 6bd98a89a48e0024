import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { renewPlans } from "../../src/app/change-account.ts";
import { updatePlan } from "../../src/features/accounts/index.ts";
import { findViolations, readBalance } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { presentSocketUrl } from "../harness/test-database.ts";

const migrationsDir = join(repositoryDir, "migrations");

/** A database as an earlier version left it: with the migrations up to a number, and what was written then. */
async function createOldDatabase(lastNumber: number, statements: string): Promise<string> {
  const server = inject("databaseServer");
  const name = `old_${randomBytes(8).toString("hex")}`;
  await query({ ...server, database: "postgres" }, `create database ${name}`);
  const files = readdirSync(migrationsDir).filter(
    (file) => /^\d{4}-/.test(file) && Number(file.slice(0, 4)) <= lastNumber,
  );
  const applied = files.toSorted().map((file) => {
    const text = readFileSync(join(migrationsDir, file), "utf8");
    const checksum = createHash("sha256").update(text).digest("hex");
    return `${text}; insert into schema_migrations (number, name, checksum)
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

test("accounts from before the ledger get a wallet, and those with a plan its quotas", async () => {
  const connectionString = await createOldDatabase(
    4,
    `insert into plans (id, name, created_at) values ('pro', 'Pro', now());
     insert into accounts (id, email, created_at, plan_id) values
       ('acct_0planned', 'a@example.com', now(), 'pro'), ('acct_0plain', 'b@example.com', now(), null);`,
  );
  const address = { connectionString };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  expect(await migrate(database)).toContain("0005-ledger");
  await updatePlan({ database }, { id: "pro", quotas: { text: 5n, image: 0n, video: 0n } });
  const ids = createIdSource({ clock: systemClock, randomBytes });
  const onTrouble = (_: string, error: unknown): void => expect(error).toBeNull();
  await renewPlans({ database, clock: systemClock, ids, onTrouble });

  const now = systemClock.now();
  const planned = await readBalance(database, "acct_0planned", now);
  expect(planned).toMatchObject({ balance: { available: 0n, quotas: { text: 5n } }, period: { planName: "Pro" } });
  const plain = await readBalance(database, "acct_0plain", now);
  expect(plain).toMatchObject({ balance: { available: 0n, quotas: { text: 0n } }, period: null });
  const wallets = await database.selectFrom("wallets").select("account_id").orderBy("account_id").execute();
  expect(wallets).toEqual([{ account_id: "acct_0plain" }, { account_id: "acct_0planned" }]);
  expect(await findViolations(database, { kind: "whole", accountIds: "all", now })).toEqual([]);
  await database.destroy();
});
