import { afterAll, beforeAll, expect, test } from "vitest";
import { clawBack } from "../../../src/features/ledger/index.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import { inTransaction } from "../../../src/platform/database/database.ts";
import { createDataDirectory, runCommand } from "../../harness/gateway-process.ts";
import { openTestLedger, type TestLedger } from "../../harness/ledger/test-ledger.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";

const data = createDataDirectory();
let world: TestLedger;
let debtorId: AccountId;

beforeAll(async () => {
  world = await openTestLedger();
  const accountId = await world.createAccount();
  debtorId = await world.createAccount(5_000_000_000n);
  const createdAt = new Date("2026-11-15T12:00:00Z");
  const common = {
    ...{ account_id: accountId, currency: "USD", amount_nano: 20_000_000_000n, amount_minor: 2000n },
    ...{ created_at: createdAt, expires_at: createdAt },
  };
  const note = "Stripe charged 1999 USD instead of 2000 USD, in the smallest unit.";
  const ended = { ended_at: createdAt, session_id: "cs_test_1", payment_id: "pi_1" };
  await world.database
    .insertInto("checkouts")
    .values([
      { ...common, id: "chk_1", state: "open", refunded_minor: 0n },
      { ...common, ...ended, id: "chk_2", state: "mismatched", note, refunded_minor: 1999n },
      { ...common, id: "chk_0", state: "paid", ended_at: createdAt, payment_id: "pi_0", refunded_minor: 0n },
    ])
    .execute();
  const facts = { kind: "dispute", status: "needs_response", reason: "fraudulent", amount_minor: 2000n };
  await world.database
    .insertInto("payment_reversals")
    .values({ id: "dp_1", checkout_id: "chk_0", ...facts, received_at: createdAt, changed_at: createdAt })
    .execute();
  const cause = { kind: "payment_dispute", id: "chk_0" } as const;
  const owed = nano(20_000_000_000n);
  await inTransaction(world.database, (tx) =>
    clawBack(tx, { id: "dp_1", accountId: debtorId, channel: "stripe", cause, owed }, createdAt),
  );
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

const getEnvironment = () => ({ SLUICE_DATA_DIR: data.path, SLUICE_DATABASE_URL: world.url });

async function run(...words: string[]) {
  return await runCommandHere(words, { environment: getEnvironment() });
}

test("an operator lists all payments, or those that do not match", async () => {
  const all = await runCommand(["payment", "list", "--json"], { environment: getEnvironment() });
  expect(JSON.parse(all.stdout).map(({ id }: { id: string }) => id)).toEqual(["chk_2", "chk_1", "chk_0"]);
  const { stdout } = await run("payment", "list", "--state", "mismatched");
  expect(stdout).toMatch(/chk_2 .*20\.00 USD .*mismatched .*Stripe charged 1999 USD .*; 19\.99 USD refunded/);
  expect(stdout).not.toContain("chk_1");
});

test("an operator looks up one payment by its Stripe ids", async () => {
  const { stdout } = await run("payment", "show", "chk_2", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    state: "mismatched",
    session_id: "cs_test_1",
    payment_id: "pi_1",
    refunded: "19.99",
    note: expect.stringContaining("1999 USD"),
  });
});

test("an operator sees refunds, disputes and debts, and can write a debt off", async () => {
  const shown = await run("payment", "show", "chk_0");
  expect(shown.stdout).toMatch(/dp_1 +dispute +needs_response +20\.00 +fraudulent +20\.00 +5\.00 +0\.00 +15\.00/);
  const ledger = await run("ledger", "show", debtorId);
  expect(ledger.stdout).toMatch(/FROZEN .*15\.00 USD owed for chk_0 \(payment_dispute dp_1\)/);
  expect(ledger.stdout).toMatch(/reversal +money +-5\.00 USD +0\.00 USD .*payment_dispute chk_0/);
  const unfreeze = await run("ledger", "unfreeze", debtorId);
  expect([unfreeze.exitCode, unfreeze.stdout]).toEqual([1, expect.stringContaining("payment waive")]);
  const waived = await run("payment", "waive", "chk_0", "--reason", "goodwill");
  expect(waived.stdout).toContain("Waived 15.00 USD for chk_0");
  const after = JSON.parse((await run("payment", "show", "chk_0", "--json")).stdout);
  expect(after.reversals).toMatchObject([{ id: "dp_1", taken: "5.00", waived: "15.00", debt: "0.00" }]);
  const again = await run("payment", "waive", "chk_0", "--reason", "goodwill");
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("Nothing is owed")]);
  expect((await run("ledger", "verify", "--account", debtorId)).exitCode).toBe(0);
});

test("mistyped arguments are answered with the valid ones", async () => {
  const [state, id] = [await run("payment", "list", "--state", "lost"), await run("payment", "show", "chk_3")];
  expect([state.exitCode, state.stderr]).toEqual([1, expect.stringContaining("one of open, paid, expired")]);
  expect([id.exitCode, id.stderr]).toEqual([1, expect.stringContaining("There is no payment chk_3.")]);
});
