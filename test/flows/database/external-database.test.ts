import { existsSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findViolations, readBalance } from "../../../src/features/ledger/index.ts";
import {
  createDataDirectory,
  findFreePort,
  runCommand,
  spawnGateway,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { openTestLedger } from "../../harness/ledger/test-ledger.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import {
  type ExternalPostgres,
  externalBinaries,
  startExternalPostgres,
} from "../../harness/servers/external-postgres.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

async function createEmptyDatabase(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("create database back");
  await client.end();
  return url.replace(/\/postgres$/, "/back");
}

describe.skipIf(externalBinaries === null)("on an external PostgreSQL", () => {
  let server: ExternalPostgres;
  beforeAll(async () => {
    server = await startExternalPostgres(externalBinaries ?? "");
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("two gateways share one database and serve the same keys and models", async () => {
    using data = createDataDirectory();
    const shared = { DATABASE_URL: server.url, SLUICE_DATA_DIR: data.path };
    const one = { ...shared, SLUICE_PORT: await findFreePort() };
    const two = { ...shared, SLUICE_PORT: await findFreePort() };
    await using _first = await startGatewayProcess({ environment: one });
    // Without a Redis the second gateway is refused unless allowed; the folder for files is shared.
    const refused = spawnGateway({ environment: two });
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain("uses this database, and rate limits would not be shared.");
    expect(refused.output()).toContain("Stop the other one, or set redis_url to the same Redis on all of them.");
    await using _second = await startGatewayProcess({ environment: { ...two, SLUICE_UNSHARED_NODES: "allow" } });

    const created = await runCommand(["account", "create", "--email", "a@example.com", "--json"], { environment: one });
    const { id } = JSON.parse(created.stdout);
    const keyed = await runCommand(["key", "create", "--account", id, "--json"], { environment: one });
    const { key } = JSON.parse(keyed.stdout);
    for (const { SLUICE_PORT } of [one, two]) {
      const client = new OpenAI({ apiKey: key, baseURL: `http://localhost:${SLUICE_PORT}/v1` });
      const models = await Array.fromAsync(client.models.list());
      expect(models.map((model) => model.id)).toContain("sandbox-chat");
    }
    expect(existsSync(join(data.path, "postgres"))).toBe(false);
  });

  test("the ledger keeps its invariants there too", async () => {
    const environment = { DATABASE_URL: server.url };
    expect((await runCommand(["migrate"], { environment })).exitCode).toBe(0);
    await using world = await openTestLedger({ url: server.url, close: async () => {} });
    const accountId = await world.createAccount(1000n);
    const holds = Array.from({ length: 100 }, () => world.hold(accountId, 25n));
    const held = await Promise.all(holds.map((hold) => world.ledger.apply(hold)));
    expect(held.filter(({ kind }) => kind === "held")).toHaveLength(40);
    const settled = await Promise.all(holds.map(({ id }) => world.ledger.apply(world.settle(accountId, id, 20n))));
    expect(settled.filter(({ kind }) => kind === "settled")).toHaveLength(40);
    const { database, clock } = world;
    expect((await readBalance(database, accountId, clock.now())).balance.available).toBe(200n);
    expect(await findViolations(database, { kind: "whole", accountIds: "all", now: clock.now() })).toEqual([]);
  });

  test("its backup is restored into another version of PostgreSQL, and back", async () => {
    using data = createDataDirectory();
    const here = { DATABASE_URL: server.url, SLUICE_DATA_DIR: data.path };
    expect((await runCommand(["migrate"], { environment: here })).exitCode).toBe(0);
    const copy = await createTestDatabase({ content: "nothing" });
    const there = { DATABASE_URL: copy.url, SLUICE_DATA_DIR: join(data.path, "there") };
    const back = await createEmptyDatabase(server.url);
    const again = { DATABASE_URL: back, SLUICE_DATA_DIR: join(data.path, "again") };
    const place = join(data.path, "backups");
    const listAccounts = async (environment: Record<string, string>) =>
      (await runCommandHere(["account", "list", "--json"], { environment })).stdout;
    for (const [from, to] of [
      [here, there],
      [there, again],
    ] as const) {
      const options = ["--secrets", "new"];
      expect((await runCommandHere(["backup", place], { environment: from })).stderr).toBe("");
      expect((await runCommandHere(["restore", place, ...options], { environment: to })).stderr).toBe("");
      expect(await listAccounts(to)).toBe(await listAccounts(here));
      expect((await runCommandHere(["ledger", "verify"], { environment: to })).exitCode).toBe(0);
    }
    expect(JSON.parse(await listAccounts(again)).length).toBeGreaterThan(0);
    await copy.close();
  });

  test("doctor prints which database it found", async () => {
    const outcome = await runCommand(["doctor", "--json"], { environment: { DATABASE_URL: server.url } });
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      checks: expect.arrayContaining([
        { check: "database", ok: true, message: `PostgreSQL ${server.version}, external` },
      ]),
    });
  });

  test("doctor reports a failing write-ahead log archive until it is fixed", async () => {
    const examine = async () => {
      const { stdout } = await runCommand(["doctor", "--json"], { environment: { DATABASE_URL: server.url } });
      return JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === "log archive");
    };
    expect(await examine()).toBeUndefined();
    const run = async (...statements: string[]) => {
      const client = new pg.Client(server.url);
      await client.connect();
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows;
      await client.end();
      return rows;
    };
    await run("alter system set archive_mode = on", "alter system set archive_command = 'false'");
    await server.restart();
    await run("select pg_logical_emit_message(true, 'test', 'something to archive')", "select pg_switch_wal()");
    const readCount = async (column: string) =>
      Number((await run(`select ${column} as count from pg_stat_archiver`))[0]?.count);
    await waitUntil("a failure", async () => (await readCount("failed_count")) > 0);
    expect(await examine()).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^archiving [0-9A-F]{24} has failed since .*; archived: none yet$/),
    });
    await run("alter system set archive_command = 'true'");
    // After three failures the archiver sleeps for a minute. A restarted server has a new archiver.
    await server.restart();
    await waitUntil("a segment", async () => (await readCount("archived_count")) > 0);
    expect(await examine()).toMatchObject({ ok: true, message: expect.stringContaining("segments are archived") });
    await run("alter system reset all");
    await server.restart();
  }, 120_000);

  test.each([
    ["a wrong password", (url: URL) => Object.assign(url, { password: "wrong-secret" }), "refuses user or password"],
    ["a missing database", (url: URL) => Object.assign(url, { pathname: "/nowhere" }), "no database of that name"],
    ["a wrong port", (url: URL) => Object.assign(url, { port: "1" }), "Nothing answers there"],
  ])("%s stops the start with a sentence that does not contain the password", async (_name, change, sentence) => {
    const url = change(new URL(server.url));
    const environment = {
      DATABASE_URL: url.href,
      SLUICE_DATABASE_START_TIMEOUT_MS: "1",
      SLUICE_PORT: await findFreePort(),
    };
    const gateway = spawnGateway({ environment });
    expect(await gateway.exited).toBe(1);
    expect(gateway.output()).toContain(sentence);
    expect(gateway.output()).not.toContain(url.password);
  });
});
