import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectEmbedded } from "../../harness/embedded-query.ts";
import {
  type CommandOutcome,
  findFreePort,
  type GatewayProcess,
  runCommand,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";

const data = createPreparedDirectory();
let environment: Record<string, string>;
let gateway: GatewayProcess;
let accountId: string;

beforeAll(async () => {
  environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort() };
  gateway = await startGatewayProcess({ environment });
  await run("plan", "create", "pro", "--text-quota", "1000");
  const created = await run("account", "create", "--email", "ada@example.com", "--plan", "pro", "--credit", "12.5");
  accountId = created.id;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

async function attempt(...words: string[]): Promise<CommandOutcome> {
  return await runCommandHere(words, { environment });
}

/** Runs a command and parses the JSON it prints. */
async function run(...words: string[]) {
  const outcome = await attempt(...words, "--json");
  expect(outcome.stderr).toBe("");
  return JSON.parse(outcome.stdout);
}

async function corrupt(statement: string): Promise<void> {
  const client = await connectEmbedded(data.path);
  await client.query(statement);
  await client.end();
}

test("the demo account of a first run has credit", async () => {
  const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/balance`, { headers });
  expect(await response.json()).toMatchObject({ available_balance: "10.00", cash_balance: "10.00" });
});

test("an operator adds, grants, corrects and redeems, and the statement shows all of it", async () => {
  expect(await run("credit", "add", accountId, "7.5", "--reason", "invoice 1", "--reference", "inv-1")).toMatchObject({
    replayed: false,
    available_balance: "20.00",
  });
  expect(await run("credit", "add", accountId, "7.5", "--reason", "invoice 1", "--reference", "inv-1")).toMatchObject({
    replayed: true,
    available_balance: "20.00",
  });
  await run("credit", "grant", accountId, "1", "--expires", "2099-01-01T00:00:00Z", "--reason", "welcome");
  await run("credit", "grant", accountId, "500", "--unit", "text", "--reason", "more tokens");
  expect(await run("credit", "adjust", accountId, "-0.25", "--reason", "typo")).toMatchObject({
    available_balance: "20.75",
  });
  const [code] = await run("code", "create", "--amount", "3", "--days", "30", "--note", "spring");
  await run("code", "redeem", code.code, "--account", accountId);
  expect(await run("code", "list")).toMatchObject([{ id: code.id, redeemed_by: accountId, amount: "3.00" }]);

  const statement = await run("ledger", "show", accountId);
  expect(statement.balance).toEqual({
    available: "23.75",
    frozen: "0.00",
    cash: "19.75",
    gift: "4.00",
    quotas: { text: 1500, image: 0, video: 0 },
  });
  expect(statement.plan.name).toBe("pro");
  expect(
    statement.entries.map(({ kind, amount, balance }: Record<string, string>) => `${kind} ${amount} ${balance}`),
  ).toEqual([
    "grant 1000 1000",
    "top_up 12.50 12.50",
    "top_up 7.50 20.00",
    "grant 1.00 21.00",
    "grant 500 1500",
    "adjustment -0.25 20.75",
    "grant 3.00 23.75",
  ]);
  const table = await attempt("ledger", "show", accountId, "--limit", "1");
  expect(table.stdout).toContain("23.75 USD available, 0.00 USD on hold; cash 19.75 USD, gift 4.00 USD");
  expect(table.stdout.trimEnd().split("\n").at(-1)).toMatch(
    /grant +money +3\.00 USD +23\.75 USD +gift 3\.00 USD +code code_/,
  );
  const csv = await attempt("ledger", "show", accountId, "--format", "csv");
  expect(csv.stdout.trimEnd().split("\r\n")).toHaveLength(8);
  expect((await attempt("account", "show", accountId)).stdout).toContain("available: 23.75 USD");
});

test("codes are secrets: without a terminal they go to a file that only its owner can read", async () => {
  const { stdout } = await runCommand(["code", "create", "--amount", "1", "--count", "2"], { environment });
  const path = /Saved to (\S+) /.exec(stdout)?.[1] ?? "";
  const codes = readFileSync(path, "utf8").trim().split("\n");
  expect(codes).toHaveLength(2);
  for (const code of codes) {
    expect(code).toMatch(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){3}$/);
    expect(stdout).not.toContain(code);
  }
});

describe("invalid input", () => {
  let before: unknown;
  beforeAll(async () => {
    before = await run("ledger", "show", accountId);
  });

  test.each([
    [["credit", "add", "ACCOUNT", "0"], "The amount must be a decimal above zero"],
    [["credit", "add", "ACCOUNT", "-5"], "The amount must be a decimal above zero"],
    [["credit", "add", "ACCOUNT", "1e3"], "The amount must be a decimal above zero"],
    [["credit", "add", "ACCOUNT", "0.0000000001"], "The amount must be a decimal above zero"],
    [["credit", "add", "ACCOUNT", "9999999999"], "The amount must be a decimal above zero"],
    [["credit", "adjust", "ACCOUNT", "-100000"], "available cash is"],
    [["credit", "grant", "ACCOUNT", "1", "--expires", "2020-01-01T00:00:00Z"], "A grant must expire in the future"],
    [["credit", "grant", "ACCOUNT", "1.5", "--unit", "text"], "a whole number of tokens"],
    [["credit", "grant", "ACCOUNT", "1", "--unit", "euros"], "--unit must be money, text, image, video"],
    [["credit", "refund", "ACCOUNT", "txn_nothing", "1"], "The account has no such charge"],
    [["credit", "add", "acct_nobody", "1"], "There is no account acct_nobody"],
  ])("%j is refused with a sentence", async (words, sentence) => {
    const outcome = await attempt(...words.map((word) => (word === "ACCOUNT" ? accountId : word)), "--reason", "x");
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(outcome.stderr).toContain(sentence);
  });

  test("changes nothing", async () => {
    expect(await run("ledger", "show", accountId)).toEqual(before);
  });
});

test("a credit without a reason is a usage error", async () => {
  const outcome = await attempt("credit", "add", accountId, "1");
  expect(outcome.exitCode).toBe(2);
  expect(outcome.stderr).toContain("--reason is required");
});

test("a currency other than the ledger's is refused", async () => {
  const other = { ...environment, SLUICE_CURRENCY: "EUR" };
  const outcome = await runCommandHere(["credit", "add", accountId, "1", "--reason", "x"], { environment: other });
  expect(outcome.exitCode).toBe(1);
  expect(outcome.stderr).toContain("The ledger is in USD, but the setting currency is EUR.");
});

describe("ledger verify", () => {
  test("reports that all invariants hold", async () => {
    const outcome = await runCommand(["ledger", "verify"], { environment });
    expect(outcome).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^All \d+ invariants hold\. Verified \d+ unchecked entries/),
    });
    const nothingNew = { ok: true, violations: [], covered: expect.objectContaining({ entries: 0, whole: false }) };
    expect(await run("ledger", "verify")).toEqual(nothingNew);
    const { covered } = (await run("ledger", "verify", "--whole")) as { covered: { entries: number } };
    expect(covered).toMatchObject({ whole: true, accounts: expect.any(Number) });
    expect(covered.entries).toBeGreaterThan(0);
    expect(await run("ledger", "verify", "--account", accountId)).toEqual({ ok: true, violations: [] });
    expect((await attempt("doctor")).stdout).toMatch(/✓ ledger +all \d+ invariants hold/);
  });

  test("a broken account is listed with its rows, frozen, and unfrozen once it is repaired", async () => {
    const bucketId = `bkt_${accountId.slice(5)}`;
    await corrupt(`update buckets set posted = posted + 1 where id = '${bucketId}'`);
    const outcome = await runCommand(["ledger", "verify"], { environment });
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stdout).toContain(`✗ A  ${accountId}  bucket ${bucketId} has`);
    expect((await attempt("ledger", "show", accountId)).stdout).toContain("FROZEN for spending since");
    expect((await attempt("doctor")).exitCode).toBe(1);
    expect((await attempt("ledger", "unfreeze", accountId)).exitCode).toBe(1);
    await corrupt(`update buckets set posted = posted - 1 where id = '${bucketId}'`);
    expect((await attempt("ledger", "unfreeze", accountId)).stdout).toContain(`Unfroze ${accountId}`);
    expect((await attempt("ledger", "unfreeze", accountId)).stdout).toContain("was not frozen");
  });
});
