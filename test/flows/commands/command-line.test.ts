import { chmodSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectEmbedded } from "../../harness/embedded-query.ts";
import {
  type CommandOutcome,
  createDataDirectory,
  findFreePort,
  runCommand,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";

/** Runs a command in a separate process and parses the JSON it prints. */
async function run(environment: Record<string, string>, ...words: string[]) {
  return readJson(await runCommand([...words, "--json"], { environment }));
}

async function runHere(environment: Record<string, string>, ...words: string[]) {
  return readJson(await runCommandHere([...words, "--json"], { environment }));
}

function readJson(outcome: CommandOutcome) {
  expect(outcome).toMatchObject({ stderr: "", exitCode: 0 });
  return JSON.parse(outcome.stdout);
}

async function testLifeOfKey(environment: Record<string, string>, first = runHere): Promise<string> {
  const account = await first(
    environment,
    "account",
    "create",
    "--email",
    "owner@example.com",
    "--password",
    "correct horse",
  );
  expect(account).toMatchObject({
    id: expect.stringMatching(/^acct_/),
    email: "owner@example.com",
    has_password: true,
  });
  const key = await runHere(environment, "key", "create", "--account", account.id, "--name", "laptop");
  expect(key).toMatchObject({ id: expect.stringMatching(/^key_/), name: "laptop", account_id: account.id });
  expect(key.key).toMatch(/^sk-slc-[0-9A-Za-z]{36}$/);
  expect(await runHere(environment, "account", "list")).toContainEqual(expect.objectContaining({ id: account.id }));
  const shown = await runHere(environment, "account", "show", account.id);
  expect(shown.keys).toEqual([expect.objectContaining({ id: key.id, revoked_at: null })]);
  expect(JSON.stringify(shown)).not.toContain(key.key);
  expect(await runHere(environment, "key", "revoke", key.id)).toMatchObject({ revoked_at: expect.any(String) });
  const listed = await runHere(environment, "key", "list", "--account", account.id);
  expect(listed).toEqual([expect.objectContaining({ id: key.id, revoked_at: expect.any(String) })]);
  return key.key;
}

test("accounts and keys are managed while the gateway is not running", async () => {
  using data = createPreparedDirectory();
  await testLifeOfKey({ SLUICE_DATA_DIR: data.path }, run);
});

test("accounts and keys are managed while the gateway runs, and a revoked key stops working there", async () => {
  using data = createPreparedDirectory();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort() };
  await using _gateway = await startGatewayProcess({ environment });
  const key = await testLifeOfKey(environment);
  const response = await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await response.json()).toMatchObject({ error: { code: "revoked_api_key" } });
});

test("several commands at once on a directory that does not exist yet all succeed", async () => {
  using data = createDataDirectory();
  const environment = { SLUICE_DATA_DIR: `${data.path}/new` };
  const emails = ["a@example.com", "b@example.com", "c@example.com"];
  await Promise.all(emails.map((email) => run(environment, "account", "create", "--email", email)));
  const accounts = await runHere(environment, "account", "list");
  expect(accounts.map((account: { email: string }) => account.email).toSorted()).toEqual(emails);
});

test("a gateway that starts while a command uses the database waits for it", async () => {
  using data = createPreparedDirectory();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort() };
  const command = run(environment, "account", "create", "--email", "a@example.com");
  await using _gateway = await startGatewayProcess({ environment });
  expect(await command).toHaveProperty("id");
});

describe("with an empty database of the server that all tests share", () => {
  const data = createDataDirectory();
  let database: TestDatabase;
  let environment: Record<string, string>;
  beforeAll(async () => {
    database = await createTestDatabase();
    environment = { SLUICE_DATA_DIR: data.path, DATABASE_URL: database.url };
  });
  afterAll(async () => {
    await database.close();
    data[Symbol.dispose]();
  });

  test("without a terminal, a new key goes to a file that only its owner can read", async () => {
    const { id } = await runHere(environment, "account", "create", "--email", "a@example.com");
    const { stdout, stderr } = await runCommand(["key", "create", "--account", id], { environment });
    expect(stdout + stderr).not.toMatch(/sk-slc-/);
    const path = /Saved to (\S+) /.exec(stdout)?.[1] ?? "";
    expect(await readFile(path, "utf8")).toMatch(/^sk-slc-[0-9A-Za-z]{36}\n$/);
    expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
  });

  test("a password can be read from standard input without echo", async () => {
    const words = ["account", "create", "--email", "b@example.com", "--password", "-", "--json"];
    const { stdout } = await runCommand(words, { environment }, "correct horse\n");
    expect(JSON.parse(stdout)).toMatchObject({ has_password: true });
  });

  test("one e-mail address has one account, in any spelling", async () => {
    await runHere(environment, "account", "create", "--email", "c@example.com");
    const again = await runCommandHere(["account", "create", "--email", "C@Example.com"], { environment });
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain("already");
  });

  test.each([[["help", "key"]], [["key", "--help"]], [["help", "key", "create"]], [["help"]], [[]]])(
    "%j prints the requested help and exits with 0",
    async (words: string[]) => {
      const outcome = await runCommandHere(words, { environment });
      expect([outcome.exitCode, outcome.stderr]).toEqual([0, ""]);
      expect(outcome.stdout).toContain("key create --account <account id>");
      expect(outcome.stdout.includes("doctor")).toBe(!words.includes("key"));
    },
  );

  test.each([
    [["account", "create", "--email", "nobody", "--json"], 1, /not an e-mail address/],
    [["account", "create", "--json"], 2, /--email is required/],
    [["account", "create", "--email", "a@b.c", "--password", "short"], 1, /8 to 256 characters/],
    [["account", "show", "acct_none"], 1, /There is no account acct_none/],
    [["key", "create", "--account", "acct_none"], 1, /There is no account acct_none/],
    [["key", "revoke", "key_none"], 1, /There is no key key_none/],
    [["key", "create", "--acount", "x"], 2, /Unknown option --acount\. Did you mean --account\?\n +See: npm run/],
    [["key", "create", "--acount", "x", "--json"], 2, /^\{"error":\{"message":"Unknown option --acount\./],
    [["frobnicate"], 2, /Unknown command "frobnicate"\.\n +See: npm run -s sluice -- help\n/],
    [["acount", "list"], 2, /Unknown command "acount"\.\n +Did you mean: npm run -s sluice -- account\n/],
    [["key", "creat"], 2, /Unknown command "key creat"\.\n +Did you mean: .* key create\n +See: .* help key\n/],
    [["help", "acount"], 2, /Did you mean: npm run -s sluice -- account/],
    [["key"], 2, /^Usage: npm run -s sluice -- key <command>\n\n( {2}key .*\n)+\nEvery command accepts --help/],
  ])("%j fails with exit code %i and says why", async (words, exitCode, sentence) => {
    const outcome = await runCommandHere(words, { environment });
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toMatch(sentence);
    expect(outcome.stdout).toBe("");
  });

  test.each([
    // Loads the commands of every file.
    [["help"], 0],
    [["key", "revoke", "key_none", "--json"], 1],
    [["account", "show", "acct_none"], 1],
    [["key", "creat"], 2],
  ])("%j in a separate process exits with %i and the same output", async (words, exitCode) => {
    const outcome = await runCommand(words, { environment });
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome).toEqual(await runCommandHere(words, { environment }));
  });
});

test("doctor reports a wrong setting, a wrong certificate, an open data directory and a missing migration, each with its fix", async () => {
  using data = createDataDirectory();
  const environment = { SLUICE_DATA_DIR: data.path };
  const fresh = await runCommand(["doctor"], { environment });
  expect(fresh.stdout).toContain("npm start creates it");

  await runHere(environment, "migrate");
  const healthy = await runCommandHere(["doctor", "--json"], { environment });
  const { checks } = JSON.parse(healthy.stdout) as { checks: { check: string; ok: boolean }[] };
  // Other tests cover the media decoder: not every machine that runs tests has a maintained one.
  const failed = checks.filter(({ check, ok }) => !ok && check !== "decoders" && check !== "confinement");
  expect([checks.length, failed]).toEqual([12, []]);

  const wrong = await runCommandHere(["doctor"], { environment: { ...environment, SLUICE_PORT: "none" } });
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, expect.stringContaining("Write a whole number from 1 to 65535")]);

  chmodSync(data.path, 0o755);
  const certificate = { SLUICE_TLS_CERT_FILE: "/nowhere/tls.crt", SLUICE_TLS_KEY_FILE: "/nowhere/tls.key" };
  const open = await runCommandHere(["doctor"], { environment: { ...environment, ...certificate } });
  expect([open.exitCode, open.stdout]).toEqual([1, expect.stringContaining(`chmod 700 ${data.path}`)]);
  expect(open.stdout).toMatch(/✗ certificate +Cannot read the TLS file \/nowhere\/tls\.(crt|key)\./);
  chmodSync(data.path, 0o700);

  await using _gateway = await startGatewayProcess({
    environment: { ...environment, SLUICE_PORT: await findFreePort() },
  });
  const client = await connectEmbedded(data.path);
  await client.query("delete from schema_migrations");
  const behind = await runCommand(["doctor"], { environment });
  expect([behind.exitCode, behind.stdout]).toEqual([1, expect.stringContaining("0001-baseline")]);
  await client.query("insert into schema_migrations values (1, '9999-later', 'x')");
  await client.end();
  const ahead = await runCommandHere(["doctor", "--json"], { environment });
  expect(JSON.parse(ahead.stdout)).toMatchObject({ ok: false });
});
