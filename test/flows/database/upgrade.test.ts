import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { renewPlans } from "../../../src/app/change-account.ts";
import { updatePlan } from "../../../src/features/accounts/index.ts";
import { findViolations, readBalance } from "../../../src/features/ledger/index.ts";
import { hashPassword } from "../../../src/features/site/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { visitSite } from "../../harness/site/site-visitor.ts";
import { presentSocketUrl } from "../../harness/test-database.ts";
import { startGateway } from "../../harness/test-gateway.ts";

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

test("the passwords of accounts from before there were people still sign in", async () => {
  const passwordHash = await hashPassword("an old password of ada");
  const connectionString = await createOldDatabase(
    12,
    `insert into accounts (id, email, password_hash, created_at) values
       ('acct_0ada', 'Ada@example.com', '${passwordHash}', now()), ('acct_0bob', 'bob@example.com', null, now());`,
  );
  await using gateway = await startGateway({ sharedDatabase: { url: connectionString, close: async () => {} } });
  const visitor = visitSite(gateway);
  const answer = await visitor.post("/sign-in", { email: "ada@example.com", password: "an old password of ada" });
  expect(answer.body).toEqual({ kind: "signed-in" });
  expect((await visitor.get("/session")).body).toMatchObject({
    user: { email: "Ada@example.com", is_email_verified: false, has_password: true },
    account: { id: "acct_0ada" },
  });
  const users = await gateway.database
    .selectFrom("users")
    .select(["account_id", "password_hash"])
    .orderBy("id")
    .execute();
  expect(users).toEqual([
    { account_id: "acct_0ada", password_hash: passwordHash },
    { account_id: "acct_0bob", password_hash: null },
  ]);
});

test("keys from before programs could be connected keep working, under names that no program has", async () => {
  const connectionString = await createOldDatabase(
    13,
    `insert into accounts (id, email, created_at) values ('acct_0ada', 'ada@example.com', now());
     insert into api_keys (id, account_id, name, hash, last_four, created_at) values
       ('key_1', 'acct_0ada', 'BA:tool', sha256('1'), '0001', now()),
       ('key_2', 'acct_0ada', 'BA:tool', sha256('2'), '0002', now()),
       ('key_3', 'acct_0ada', 'BA:${"x".repeat(97)}', sha256('3'), '0003', now()),
       ('key_4', 'acct_0ada', 'laptop', sha256('4'), '0004', now());`,
  );
  const database = createDatabase({ address: { connectionString }, connectionsMax: 1, onConnectionError: () => {} });
  await migrate(database);
  const keys = await database.selectFrom("api_keys").select(["name", "revoked_at"]).orderBy("id").execute();
  expect(keys).toEqual(
    ["key BA:tool", "key BA:tool", `key BA:${"x".repeat(93)}`, "laptop"].map((name) => ({ name, revoked_at: null })),
  );
  await database.destroy();
});
