import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { findViolations } from "../../src/features/ledger/index.ts";
import { closeBooks } from "../../src/features/ledger/roll-up-store.ts";
import { rollUpUsage } from "../../src/features/ledger/roll-up-usage.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const hourMs = 3_600_000;

let opened: TestLedger;
let accountId: AccountId;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened[Symbol.asyncDispose]());
beforeEach(async () => {
  accountId = await opened.createAccount(1_000_000n);
});

async function charge(): Promise<void> {
  const hold = opened.hold(accountId, 10n);
  await Promise.all([opened.ledger.apply(hold), opened.ledger.apply(opened.settle(accountId, hold.id, 5n))]);
}

/** By a gateway whose clock is ahead. */
const rollUpAhead = (aheadMs: number): Promise<void> =>
  rollUpUsage({
    database: opened.database,
    clock: { ...opened.clock, now: () => new Date(opened.clock.now().getTime() + aheadMs) },
  });

async function readRollUps(): Promise<{ calls: bigint; paid: bigint }> {
  const { database } = opened;
  const now = opened.clock.now();
  expect(await findViolations(database, { kind: "whole", accountIds: [accountId], now })).toEqual([]);
  const { rows } = await sql<{ calls: bigint; paid: bigint }>`
    select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(paid), 0)::bigint as paid from usage_rollups
      where account_id = ${accountId}`.execute(database);
  return rows[0] ?? { calls: 0n, paid: 0n };
}

test("charges are rolled up ten seconds later, once", async () => {
  await charge();
  await rollUpAhead(10_000);
  expect(await readRollUps()).toEqual({ calls: 0n, paid: 0n });
  await rollUpAhead(10_001);
  await rollUpAhead(10_002);
  await rollUpAhead(hourMs);
  expect(await readRollUps()).toEqual({ calls: 1n, paid: 5n });
});

test("a charge that commits after the mark is booked at it, with its postings, and rolled up next time", async () => {
  await charge();
  await rollUpAhead(hourMs);
  await charge();
  expect(await readRollUps()).toEqual({ calls: 1n, paid: 5n });
  const { rows } = await sql<{ charged: Date; posted: Date; mark: Date }>`
    select charge.created_at as charged, posting.created_at as posted, rolled_until as mark
      from charges charge join postings posting using (id) join wallets on wallets.account_id = charge.account_id
      where charge.account_id = ${accountId} order by charge.created_at desc limit 1`.execute(opened.database);
  const mark = new Date(opened.clock.now().getTime() + hourMs - 10_000);
  expect(rows).toEqual([{ charged: mark, posted: mark, mark }]);
  await rollUpAhead(2 * hourMs);
  expect(await readRollUps()).toEqual({ calls: 2n, paid: 10n });
});

test("a run that died after it had closed the books is made up for", async () => {
  await charge();
  const until = new Date(opened.clock.now().getTime() + hourMs);
  await opened.database.transaction().execute((tx) => closeBooks(tx, [accountId], until));
  await charge();
  await rollUpAhead(2 * hourMs);
  expect(await readRollUps()).toEqual({ calls: 2n, paid: 10n });
});

test("runs at the same time, beside charges, count every charge once", async () => {
  const charges = Array.from({ length: 40 }, async (_, index) => {
    for (let turn = 0; turn <= index % 4; turn += 1) await charge();
  });
  const runs = Array.from({ length: 6 }, async (_, index) => {
    // One of two that meet fails, and the next one makes up for it.
    for (let turn = 0; turn < 4; turn += 1) await rollUpAhead((4 * turn + index) * hourMs).catch(() => {});
  });
  await Promise.all([...charges, ...runs]);
  await rollUpAhead(24 * hourMs);
  expect(await readRollUps()).toEqual({ calls: 100n, paid: 500n });
});
