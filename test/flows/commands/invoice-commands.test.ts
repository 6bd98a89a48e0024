import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AccountId } from "../../../src/lib/ids.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { openTestLedger, type TestLedger } from "../../harness/ledger/test-ledger.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";

const data = createDataDirectory();
const termsPath = join(data.path, "terms.yaml");
let world: TestLedger;
let accountId: AccountId;

beforeAll(async () => {
  world = await openTestLedger();
  accountId = await world.createAccount();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

async function run(...words: string[]) {
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_DATABASE_URL: world.url };
  return await runCommandHere(words, { environment });
}

async function readJson(...words: string[]) {
  const { stdout, exitCode } = await run(...words, "--json");
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

test("terms are applied from a file, shown as one, and refused with every mistake", async () => {
  const missing = await run("invoice", "terms", "show");
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("There are no invoice terms") });
  writeFileSync(termsPath, "seller: {name: A}\ntax: [{country: DE, rate: 200}]\n");
  const wrong = await run("invoice", "terms", "apply", termsPath);
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toMatch(/seller\.address is missing[\s\S]*tax\.0\.rate must be/);
  writeFileSync(termsPath, 'seller: {name: A, address: B, country: DE}\ntax: [{country: "*", rate: 19}]\n');
  expect(await readJson("invoice", "terms", "apply", termsPath)).toEqual({ version: 1, changed: true });
  expect(await readJson("invoice", "terms", "apply", termsPath)).toEqual({ version: 1, changed: false });
  const shown = await run("invoice", "terms", "show");
  expect(shown.stdout).toMatch(/^# Version 1, applied .* by .*\nseller:\n {2}name: A\n/);
});

test("a payment that an operator books is listed, shown and written as a PDF", async () => {
  expect((await run("credit", "add", accountId, "119", "--reason", "bank transfer")).exitCode).toBe(0);
  const listed = await run("invoice", "list", "--account", accountId, "--kind", "invoice");
  expect(listed.stdout).toMatch(/doc_\w+ +INV-000001 .*119\.00 USD +19\.00 USD +txn_/);
  const [document] = await readJson("invoice", "list");
  expect(document).toMatchObject({ number: "INV-000001", total: "119.00", tax: "19.00", account_id: accountId });
  expect((await run("invoice", "show", document.id)).stdout).toMatch(/tax rule +VAT 19 %/);
  const path = join(data.path, "invoice.pdf");
  await run("invoice", "pdf", document.id, "--output", path);
  const written = readFileSync(path);
  await run("invoice", "pdf", document.id, "--output", path);
  expect(readFileSync(path).equals(written)).toBe(true);
  expect(written.subarray(0, 5).toString()).toBe("%PDF-");
  const none = await run("invoice", "pdf", "doc_1");
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("There is no document doc_1") });
});

test("the books are lines of a double entry, whose sides are equal on every day", async () => {
  const { stdout } = await run("books", "export", "--from", "2020-01-01", "--to", "2100-01-01");
  const [heading, ...lines] = stdout.trim().split("\n");
  expect(heading).toBe("date,account,debit,credit");
  const rows = lines.map((line) => line.split(","));
  expect(rows.map(([, ...rest]) => rest)).toEqual([
    ["cash:operator", "119.00", "0.00"],
    ["customer_credit", "0.00", "119.00"],
    ["tax_in_payments", "19.00", "0.00"],
    ["tax_payable", "0.00", "19.00"],
  ]);
  const own = await run("books", "export", "--from", "2020-01-01", "--account", accountId);
  expect(own.stdout.trim().split("\n").length).toBeGreaterThanOrEqual(1);
  const wrong = await run("books", "export", "--from", "2020-02-30");
  expect(wrong.stderr).toContain("--from must be a day, such as 2026-11-01");
});

test("revenue by model is printed by month, with the price's id for a model that is gone", async () => {
  const hold = world.hold(accountId, 5_000_000_000n);
  await world.ledger.apply(hold);
  await world.ledger.apply(world.settle(accountId, hold.id, 2_500_000_000n));
  const { stdout } = await run("books", "revenue", "--from", "2020-01-01", "--to", "2100-01-01");
  expect(stdout).toMatch(/^month,model,calls,revenue\n\d{4}-\d{2},\w+,1,2\.50\n$/);
  const wrong = await run("books", "revenue", "--from", "2020-01-01", "--by", "year");
  expect(wrong.stderr).toContain("--by must be day or month");
});
