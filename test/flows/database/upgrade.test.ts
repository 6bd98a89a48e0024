import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { renewPlans } from "../../../src/app/change-account.ts";
import { updatePlan } from "../../../src/features/accounts/index.ts";
import { findViolations, readBalance } from "../../../src/features/ledger/index.ts";
import { hashPassword } from "../../../src/features/site/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { runCommand } from "../../harness/gateway-process.ts";
import { createOldDatabase } from "../../harness/old-database.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { visitSite } from "../../harness/site/site-visitor.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const migrationsDir = join(repositoryDir, "migrations");

test("accounts from before the ledger get a wallet, and those with a plan its quotas", async () => {
  const connectionString = await createOldDatabase(
    4,
    `insert into plans (id, name, created_at) values ('pro', 'Pro', now());
     insert into accounts (id, email, created_at, plan_id) values
       ('acct_0planned', 'a@example.com', now(), 'pro'), ('acct_0plain', 'b@example.com', now(), null);`,
  );
  const address = { connectionString };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  expect(await migrate(address)).toContain("0005-ledger");
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
  await migrate({ connectionString });
  const database = createDatabase({ address: { connectionString }, connectionsMax: 1, onConnectionError: () => {} });
  const keys = await database.selectFrom("api_keys").select(["name", "revoked_at"]).orderBy("id").execute();
  expect(keys).toEqual(
    ["key BA:tool", "key BA:tool", `key BA:${"x".repeat(93)}`, "laptop"].map((name) => ({ name, revoked_at: null })),
  );
  await database.destroy();
});

/** The migrations of a version that is yet to come: today's and these. */
function writeNewerVersion(added: Record<string, string>): Disposable & { directory: string } {
  const directory = mkdtempSync(join(tmpdir(), "sluice-migrations-"));
  cpSync(migrationsDir, directory, { recursive: true });
  for (const [name, text] of Object.entries(added)) writeFileSync(join(directory, `${name}.sql`), text);
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

/** A transaction that has read every table and does not end, as a backup or a forgotten session has. */
async function openLongReader(connectionString: string): Promise<{ end(): Promise<void> }> {
  const client = new pg.Client({ connectionString, application_name: "backup" });
  await client.connect();
  const { rows } = await client.query(`
    select string_agg(format('%I', relname), ', ') as tables from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`);
  await client.query(`begin isolation level repeatable read; lock table ${rows[0].tables} in access share mode;
    select count(*) from accounts`);
  return { end: () => client.end() };
}

describe("a migration under traffic", () => {
  const limits = { lockMs: 100, pauseMs: 100 };
  const newer = {
    "0901-wallet-notes": "alter table wallets add column note text;\n",
    "0902-wallets-by-note":
      "-- no transaction\ncreate index concurrently if not exists wallets_by_note on wallets (note);\n",
  };

  /** Reads wallets again and again, as every paid call does. */
  function startReading(gateway: TestGateway, key: string) {
    let isStopped = false;
    const statuses: number[] = [];
    const reading = (async () => {
      while (!isStopped) statuses.push((await gateway.get("/balance", key)).status);
    })();
    return {
      count: () => statuses.length,
      async stop(): Promise<Set<number>> {
        isStopped = true;
        await reading;
        return new Set(statuses);
      },
    };
  }

  test("lets requests through while a long reader holds it up, ends after it, and the version before goes on", async () => {
    const place = await createTestDatabase();
    using version = writeNewerVersion(newer);
    {
      await using before = await startGateway({ sharedDatabase: place });
      const { key } = await before.createCaller();
      const traffic = startReading(before, key);
      const reader = await openLongReader(place.url);
      const told: string[] = [];
      const onProgress = (sentence: string): void => void told.push(sentence);
      const migrating = migrate({ connectionString: place.url }, { ...version, limits, onProgress });
      await waitUntil("three tries", () => told.length >= 3);
      expect(told[0]).toMatch(/^The migration 0901-wallet-notes waits for a lock \(try 1\)/);
      const readSoFar = traffic.count();
      await waitUntil("more requests and tries", () => told.length >= 6 && traffic.count() > readSoFar + 3);
      expect(told.at(-1)).toMatch(/open are process \d+ \(backup, \d+ s\)/);
      await reader.end();
      expect(await migrating).toEqual(Object.keys(newer));
      expect(await traffic.stop()).toEqual(new Set([200]));

      // The version before also starts, beside one that runs.
      await using again = await startGateway({ sharedDatabase: place });
      expect((await again.get("/balance", key)).status).toBe(200);
    }
    using contract = writeNewerVersion({
      ...newer,
      "0903-no-notes": "-- compatible from 0902\nalter table wallets drop column note;",
    });
    await migrate({ connectionString: place.url }, contract);
    await expect(startGateway({ sharedDatabase: place })).rejects.toThrow("has the migration 0903-no-notes");
    const refused = await runCommand(["account", "list"], { environment: { DATABASE_URL: place.url } });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/newer Sluice.*\n.*Start that version/),
    });
    await place.close();
  });

  test("says what keeps it from its locks when its time is over, and leaves everything as it was", async () => {
    const place = await createTestDatabase();
    using version = writeNewerVersion(newer);
    const reader = await openLongReader(place.url);
    await waitUntil("it to be old enough to be named", async () => {
      const failure = await migrate(
        { connectionString: place.url },
        { ...version, limits: { ...limits, waitMs: 200 } },
      ).catch((error: Error) => error);
      return (
        failure instanceof Error &&
        /^The migration 0901-wallet-notes did not get its locks within 1 s: open are process \d+ \(backup/.test(
          failure.message,
        )
      );
    });
    await reader.end();
    expect(await migrate({ connectionString: place.url }, version)).toEqual(Object.keys(newer));
    await place.close();
  });

  test("an index whose build was cut off is built again", async () => {
    const place = await createTestDatabase();
    using version = writeNewerVersion({
      "0902-wallets-by-id": newer["0902-wallets-by-note"].replaceAll("note", "account_id"),
    });
    const reader = await openLongReader(place.url);
    const admin = new pg.Client({ connectionString: place.url });
    await admin.connect();
    const cutOff = migrate({ connectionString: place.url }, version).catch((error: Error) => error);
    const listIndexes = async () =>
      (await admin.query("select indisvalid from pg_index where indexrelid = to_regclass('wallets_by_account_id')"))
        .rows;
    await waitUntil("the build to be under way", async () => (await listIndexes()).length === 1);
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice-migrate' and datname = current_database()",
    );
    expect(await cutOff).toBeInstanceOf(Error);
    expect(await listIndexes()).toEqual([{ indisvalid: false }]);
    await reader.end();
    expect(await migrate({ connectionString: place.url }, version)).toEqual(["0902-wallets-by-id"]);
    expect(await listIndexes()).toEqual([{ indisvalid: true }]);
    await admin.end();
    await place.close();
  });

  test("gateways that start at the same time migrate once; one that fails says which and why", async () => {
    const place = await createTestDatabase();
    using version = writeNewerVersion(newer);
    const address = { connectionString: place.url };
    const all = await Promise.all([1, 2, 3].map(() => migrate(address, { ...version, limits })));
    expect(all.toSorted((a, b) => a.length - b.length)).toEqual([[], [], Object.keys(newer)]);
    using broken = writeNewerVersion({
      ...newer,
      "0903-broken": "create table half (); alter table nowhere add column a text;",
    });
    await expect(migrate(address, broken)).rejects.toThrow(
      /^The migration 0903-broken failed: relation "nowhere" does not exist/,
    );
    expect(await migrate(address, version)).toEqual([]);
    await place.close();
  });

  test("waits for another gateway that migrates, and not for ever", async () => {
    const place = await createTestDatabase();
    const other = new pg.Client({ connectionString: place.url });
    await other.connect();
    await other.query("select pg_advisory_lock(7264002)");
    const told: string[] = [];
    const options = {
      limits: { pauseMs: 10, waitMs: 100 },
      onProgress: (sentence: string) => void told.push(sentence),
    };
    await expect(migrate({ connectionString: place.url }, options)).rejects.toThrow(
      "has been migrating the database for 1 s",
    );
    expect(told).toEqual(["Another gateway migrates the database; waiting for it …"]);
    await other.end();
    await place.close();
  });
});

test("commands never migrate: on an older schema they say what to do", async () => {
  const connectionString = await createOldDatabase(29, "");
  const environment = { DATABASE_URL: connectionString };
  const refused = await runCommand(["account", "list"], { environment });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /✗ The database lacks .*0030-task-leases\.\n {2}Apply what is missing: npm run -s sluice -- migrate\./,
  );
  const applied = await runCommand(["migrate"], { environment });
  expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Applied 0030-task-leases/) });
  expect(await runCommand(["account", "list"], { environment })).toMatchObject({ exitCode: 0 });
});
