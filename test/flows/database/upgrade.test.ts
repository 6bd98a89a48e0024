import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { createBareDatabase } from "../../harness/bare-database.ts";
import { runCommand } from "../../harness/gateway-process.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const migrationsDir = join(repositoryDir, "migrations");

/** The migrations of a synthetic newer version: today's and these. The code under test is then the older version. */
function writeNewerVersion(added: Record<string, string>): Disposable & { directory: string } {
  const directory = mkdtempSync(join(tmpdir(), "sluice-migrations-"));
  cpSync(migrationsDir, directory, { recursive: true });
  for (const [name, text] of Object.entries(added)) writeFileSync(join(directory, `${name}.sql`), text);
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

/** A transaction that has read every table and stays open, like a backup or a forgotten session. */
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

  /** Reads wallets continuously, as every paid call does. */
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

  test("lets requests through while a long reader blocks it, then completes, and the older version keeps running", async () => {
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
      expect(told[0]).toMatch(/^The migration 0901-wallet-notes is waiting for a lock \(try 1\)/);
      const readSoFar = traffic.count();
      await waitUntil("more requests and tries", () => told.length >= 6 && traffic.count() > readSoFar + 3);
      expect(told.at(-1)).toMatch(/Open transactions: process \d+ \(backup, \d+ s\)/);
      await reader.end();
      expect(await migrating).toEqual(Object.keys(newer));
      expect(await traffic.stop()).toEqual(new Set([200]));

      // The older version also starts on the newer schema.
      await using again = await startGateway({ sharedDatabase: place });
      expect((await again.get("/balance", key)).status).toBe(200);
    }
    using contract = writeNewerVersion({
      ...newer,
      "0903-no-notes": "-- compatible from 0902\nalter table wallets drop column note;",
    });
    await migrate({ connectionString: place.url }, contract);
    await expect(startGateway({ sharedDatabase: place })).rejects.toThrow(
      "this version cannot run on it (migration 0903-no-notes)",
    );
    const refused = await runCommand(["account", "list"], { environment: { DATABASE_URL: place.url } });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/newer Sluice.*\n.*Start that version/),
    });
    await place.close();
  });

  test("reports what blocks its locks when it times out, and leaves everything as it was", async () => {
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
        /^The migration 0901-wallet-notes did not get its locks within 1 s\. Open transactions: process \d+ \(backup/.test(
          failure.message,
        )
      );
    });
    await reader.end();
    expect(await migrate({ connectionString: place.url }, version)).toEqual(Object.keys(newer));
    await place.close();
  });

  test("an index whose build was interrupted is built again", async () => {
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

  test("gateways that start at the same time migrate once; a failed migration is named with its reason", async () => {
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

  test("waits for another gateway that migrates, and times out", async () => {
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
    expect(told).toEqual(["Waiting for another gateway that is migrating the database …"]);
    await other.end();
    await place.close();
  });
});

test("commands never migrate an existing server: they name the missing migration and the command that applies it", async () => {
  const environment = { DATABASE_URL: await createBareDatabase() };
  const refused = await runCommand(["account", "list"], { environment });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /✗ The database lacks \d+ migrations, the first of which is 0001-baseline\.\n {2}Apply it: npm run -s sluice -- migrate\./,
  );
  const applied = await runCommand(["migrate"], { environment });
  expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Applied 0001-baseline/) });
  expect(await runCommand(["account", "list"], { environment })).toMatchObject({ exitCode: 0 });
});

describe("a database from before 0.2.0", () => {
  /** Its bookkeeping as 0.1.0 created it, with the first and the last migration. */
  const statements = `
    create table schema_migrations (number integer primary key, name text not null, checksum text not null,
      applied_at timestamptz not null default now());
    insert into schema_migrations (number, name, checksum) values (1, '0001-accounts-and-keys', 'x'), (63, '0063-reserves', 'y');
    create table accounts (id text primary key);
    insert into accounts values ('acct_0ada')`;
  const message =
    "The database was made by a development version before 0.2.0 (migrations 0001-accounts-and-keys to 0063-reserves). It cannot be upgraded, and was not changed.";

  test("is refused by migrate, gateways, commands and doctor, and stays as it was", async () => {
    const url = await createBareDatabase(statements);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const describeDatabase = async () =>
      (
        await client.query(`
          select relname, attname, (select count(*)::int from accounts) as accounts, (select count(*)::int from schema_migrations) as applied
          from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0
          where relnamespace = 'public'::regnamespace order by 1, 2`)
      ).rows;
    const before = await describeDatabase();
    await expect(migrate({ connectionString: url })).rejects.toThrow(message);
    await expect(startGateway({ sharedDatabase: { url, close: async () => {} } })).rejects.toThrow(message);
    for (const command of [["migrate"], ["account", "list"]]) {
      const { exitCode, stderr } = await runCommand(command, { environment: { DATABASE_URL: url } });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`✗ ${message}\n  Start with an empty database or data_dir.`);
    }
    const doctor = await runCommand(["doctor"], { environment: { DATABASE_URL: url } });
    expect([doctor.exitCode, doctor.stdout]).toEqual([1, expect.stringContaining(message)]);
    expect(await describeDatabase()).toEqual(before);
    await client.end();
  });
});
