import { afterAll, beforeAll, expect, test } from "vitest";
import { commandsWithAccess } from "../../src/cli/command-access.ts";
import { loadAllCommands } from "../../src/cli/commands.ts";
import {
  type AdminClient,
  makeAdminKey,
  type Operator,
  openWithKey,
  signUpOperator,
} from "../harness/admin/admin-visitor.ts";
import { createDataDirectory } from "../harness/gateway-process.ts";
import { runCommandHere } from "../harness/run-command-here.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let database: TestDatabase;
let folder: ReturnType<typeof createDataDirectory>;
let gateway: TestGateway;
let operator: Operator;
let key: string;
let client: AdminClient;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = createDataDirectory();
  gateway = await startGateway({ settings: visitorSettings, sharedDatabase: database });
  operator = await signUpOperator(gateway);
  key = await makeAdminKey(gateway);
  client = openWithKey(gateway, key);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await database.close();
  folder[Symbol.dispose]();
});

const run = (words: readonly string[], as: AdminClient = client) => as.post("/commands", { words });

async function readAudit(query: string) {
  return (await operator.admin.get(`/audit?${query}`)).body.data;
}

/** As from another machine, without a database there. */
const remotely = (words: readonly string[], from: string = key) =>
  runCommandHere(["--url", gateway.siteUrl, "--admin-key", from, ...words], { environment: {} });

test("every command says where it runs and with which scope", async () => {
  const names = (await loadAllCommands()).map(({ name }) => name);
  expect(commandsWithAccess.toSorted()).toEqual(names.toSorted());
});

test("a remote command does and prints what it does on the host, and is in the audit log under the key's name", async () => {
  const { accountId } = await gateway.createCaller();
  const added = await remotely(["credit", "add", accountId, "12.50", "--reason", "invoice 7", "--json"]);
  expect(added).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(added.stdout)).toMatchObject({ account: accountId, available_balance: "12.50" });
  const shown = await remotely(["account", "show", accountId]);
  expect(shown.stdout).toContain("available: 12.50 USD");
  const [showing, adding] = await readAudit(`account_id=${accountId}`);
  expect(showing).toMatchObject({ action: "command.account_show", actor: { kind: "key", name: "script" } });
  expect(adding).toMatchObject({
    action: "command.credit_add",
    reason: "invoice 7",
    subject: accountId,
    after: { "account id": accountId, amount: "12.50", reason: "invoice 7" },
  });
  const statement = await remotely(["ledger", "show", accountId, "--json"]);
  expect(statement.stdout).toContain("admin key script");
});

test("an error, a wrong argument and an unknown command come back with their exit codes", async () => {
  const missing = await remotely(["account", "show", "acct_missing"]);
  expect(missing).toMatchObject({ exitCode: 1, stdout: "" });
  expect(missing.stderr).toContain("There is no account acct_missing");
  const wrong = await remotely(["account", "show"]);
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("Missing argument")]);
  const unknown = await run(["account", "explode"]);
  expect([unknown.status, unknown.body.error.param]).toEqual([400, "words"]);
});

test("what touches files, starts programs or hands out rights does not run remotely", async () => {
  for (const words of [
    ["catalog", "apply", "/etc/passwd"],
    ["secret", "set", "KEY", "--file", "/etc/passwd"],
    ["operator", "grant", "--email", operator.email],
    ["admin-key", "create", "--name", "more"],
    ["user", "reset-password", "--email", operator.email],
    ["backup", "/tmp/x"],
    ["serve"],
  ]) {
    const { status, body } = await run(words);
    expect([status, body.error.code], words.join(" ")).toEqual([400, "invalid_parameter"]);
  }
  const refused = await remotely(["migrate"]);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("only on a host")]);
});

test("a command needs its own scope and access", async () => {
  const { accountId } = await gateway.createCaller();
  const reading = openWithKey(gateway, await makeAdminKey(gateway, { access: "read" }));
  const money = openWithKey(gateway, await makeAdminKey(gateway, { scopes: ["money"] }));
  const suspend = ["account", "suspend", accountId];
  expect((await run(["account", "show", accountId], reading)).body.exit_code).toBe(0);
  expect((await run(suspend, reading)).body.error.code).toBe("operator_not_permitted");
  expect((await run(suspend, money)).body.error.code).toBe("operator_not_permitted");
  expect((await run(suspend)).body).toMatchObject({ exit_code: 0, failed: false });
  const wrongKey = await remotely(["account", "list"], "sk-adm-wrong");
  expect([wrongKey.exitCode, wrongKey.stderr]).toEqual([2, expect.stringContaining("does not exist")]);
});

test("secrets among the arguments are not in the audit log", async () => {
  const password = "four words nobody guesses";
  const email = "remote@example.com";
  const made = await run(["account", "create", "--email", email, "--password", password]);
  expect(made.body.exit_code).toBe(0);
  const [entry] = await readAudit("action=command.account_create");
  expect(entry.after).toEqual({ email, password: "(secret)" });
  expect(JSON.stringify(await readAudit(""))).not.toContain(password);
});

test("a command that writes is in the audit log on the host too", async () => {
  const { accountId } = await gateway.createCaller();
  const environment = { SLUICE_DATA_DIR: folder.path, SLUICE_DATABASE_URL: database.url };
  expect((await runCommandHere(["account", "suspend", accountId], { environment })).exitCode).toBe(0);
  expect((await runCommandHere(["account", "show", accountId], { environment })).exitCode).toBe(0);
  const entries = await readAudit(`account_id=${accountId}`);
  expect(entries).toMatchObject([{ action: "command.account_suspend", actor: { kind: "command" }, address: null }]);
});
