import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiKey } from "../../src/features/accounts/index.ts";
import { putAlerts } from "../../src/features/alerts/alert-store.ts";
import { raiseAlerts } from "../../src/features/alerts/raise-alerts.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { sendNotices } from "../../src/features/notices/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const dollar = 1_000_000_000n;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let world: TestLedger;

beforeAll(async () => {
  world = await openTestLedger();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The subjects of the mails that the next run sends. */
async function runJobs(): Promise<string[]> {
  await raiseAlerts(world.parts, new AbortController().signal);
  const subjects: string[] = [];
  const common = { database: world.database, clock: world.clock, siteUrl: "http://localhost:4242" };
  await sendNotices({
    ...common,
    sendMail: ({ subject, before }) => subjects.push(`${subject}\n${before.join("\n")}`),
  });
  return subjects;
}

async function change(accountId: AccountId, amount: bigint): Promise<void> {
  const booking = { kind: "adjust", amount: nano(amount) } as const;
  await bookCredit(world.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
}

test("a low balance is mailed once per crossing, however often it is compared", async () => {
  const accountId = await world.createAccount(10n * dollar);
  await putAlerts(world.database, accountId, { changes: { lowBalance: nano(5n * dollar) }, now: world.clock.now() });
  expect(await runJobs()).toEqual([]);
  await change(accountId, -5n * dollar);
  expect(await runJobs()).toEqual([]);
  await change(accountId, -1n);
  const mail = /^Your balance is below 5\.00 USD\nYour balance is 4\.999999999 USD\./;
  expect(await runJobs()).toEqual([expect.stringMatching(mail)]);
  await change(accountId, -dollar);
  expect(await runJobs()).toEqual([]);

  await change(accountId, 5n * dollar);
  await runJobs();
  await change(accountId, -5n * dollar);
  expect(await runJobs()).toEqual([]);
  world.clock.advance(hourMs);
  expect(await runJobs()).toHaveLength(1);
  expect(await runJobs()).toEqual([]);
});

test("money on hold counts, and an account without an alert gets no mail", async () => {
  const [accountId, silent] = [await world.createAccount(10n * dollar), await world.createAccount(dollar)];
  const changes = { lowBalance: nano(5n * dollar) };
  await putAlerts(world.database, accountId, { changes, now: world.clock.now() });
  await world.ledger.apply(world.hold(accountId, 9n * dollar));
  expect(await runJobs()).toEqual([]);
  await putAlerts(world.database, silent, { changes, now: world.clock.now() });
  await putAlerts(world.database, silent, { changes: { lowBalance: null }, now: world.clock.now() });
  expect(await runJobs()).toEqual([]);
});

test("several runs at once send one mail", async () => {
  const accountId = await world.createAccount(dollar);
  const changes = { lowBalance: nano(5n * dollar) };
  await putAlerts(world.database, accountId, { changes, now: world.clock.now() });
  const mails = await Promise.all([runJobs(), runJobs(), runJobs()]);
  expect(mails.flat()).toHaveLength(1);
});

test("a key near its budget is mailed once per period", async () => {
  const accountId = await world.createAccount(100n * dollar);
  const budget = { amount: nano(10n * dollar), period: "day" } as const;
  const made = await createApiKey({ ...world.parts, hasModel: () => true }, { accountId, name: "Nightly", budget });
  const keyBudget = { ...budget, keyId: made.apiKey.id };
  await putAlerts(world.database, accountId, { changes: { budgetPercent: 80 }, now: world.clock.now() });

  async function spend(amount: bigint): Promise<void> {
    const hold = world.hold(accountId, amount, { keyId: made.apiKey.id, budget: keyBudget });
    await world.ledger.apply(hold);
    await world.ledger.apply(world.settle(accountId, hold.id, amount, { budgetAmount: budget.amount }));
  }

  await spend(7_999_999_999n);
  expect(await runJobs()).toEqual([]);
  await spend(1n);
  const mail = "The key Nightly has spent 8.00 USD of its budget of 10.00 USD a day.";
  expect(await runJobs()).toEqual([expect.stringContaining(mail)]);
  await spend(dollar);
  expect(await runJobs()).toEqual([]);
  world.clock.advance(24 * hourMs);
  expect(await runJobs()).toEqual([]);
  await spend(8n * dollar);
  expect(await runJobs()).toHaveLength(1);
});
