import { afterAll, beforeAll, expect, test } from "vitest";
import { createDataDirectory, runCommand } from "../harness/gateway-process.ts";
import { openTestLedger, type TestLedger } from "../harness/test-ledger.ts";

const data = createDataDirectory();
let world: TestLedger;

beforeAll(async () => {
  world = await openTestLedger();
  const accountId = await world.createAccount();
  const createdAt = new Date("2026-11-15T12:00:00Z");
  const common = {
    ...{ account_id: accountId, currency: "USD", amount_nano: 20_000_000_000n, amount_minor: 2000n },
    ...{ created_at: createdAt, expires_at: createdAt },
  };
  const note = "Stripe took 1999 USD in place of 2000 USD, in the smallest unit.";
  const ended = { ended_at: createdAt, session_id: "cs_test_1", payment_id: "pi_1" };
  await world.database
    .insertInto("checkouts")
    .values([
      { ...common, id: "chk_1", state: "open", refunded_minor: 0n },
      { ...common, ...ended, id: "chk_2", state: "mismatched", note, refunded_minor: 1999n },
    ])
    .execute();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

async function run(...words: string[]) {
  return await runCommand(words, { environment: { SLUICE_DATA_DIR: data.path, SLUICE_DATABASE_URL: world.url } });
}

test("an operator sees all payments, or those that do not fit", async () => {
  const all = await run("payment", "list", "--json");
  expect(JSON.parse(all.stdout).map(({ id }: { id: string }) => id)).toEqual(["chk_2", "chk_1"]);
  const { stdout } = await run("payment", "list", "--state", "mismatched");
  expect(stdout).toMatch(/chk_2 .*20\.00 USD .*mismatched .*Stripe took 1999 USD .*; 19\.99 given back/);
  expect(stdout).not.toContain("chk_1");
});

test("an operator sees what became of one payment, by Stripe's names for it", async () => {
  const { stdout } = await run("payment", "show", "chk_2", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    state: "mismatched",
    session_id: "cs_test_1",
    payment_id: "pi_1",
    refunded: "19.99",
    note: expect.stringContaining("1999 USD"),
  });
});

test("what an operator mistypes is answered with what would be right", async () => {
  const [state, id] = [await run("payment", "list", "--state", "lost"), await run("payment", "show", "chk_3")];
  expect([state.exitCode, state.stderr]).toEqual([1, expect.stringContaining("one of open, paid, expired")]);
  expect([id.exitCode, id.stderr]).toEqual([1, expect.stringContaining("There is no payment chk_3.")]);
});
