import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { findViolations, rollUpUsage } from "../../../src/features/ledger/index.ts";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import { createOldDatabase } from "../../harness/old-database.ts";

const accountId = "acct_quarters";
const insertCharge = (minute: string, index: number): string => `
  insert into charges (id, hold_id, account_id, unit, price_id, item_names, item_quantities, item_rates_nano, rates_per,
      minimum_nano, quota_units, paid, lost, created_at)
    values ('txn_${index}', 'hold_${index}', '${accountId}', 'money', 'price_1', '{images}', '{1}', '{5}', 1, 0, 1, 5, 0, '2026-11-09T${minute}Z')`;

test("an account whose older usage was being added by quarters of an hour goes on by half hours, with nothing lost", async () => {
  const minutes = ["09:50", "10:01", "10:14", "10:16", "10:31", "10:44", "10:46"];
  const url = await createOldDatabase(
    58,
    [
      `insert into accounts (id, email, created_at) values ('${accountId}', 'ada@example.com', now())`,
      `update wallets set rolled_up_from = 'infinity'`,
      ...minutes.map(insertCharge),
      // Three at a step: from a quarter to eleven on, then from a quarter past ten on.
      `select roll_up_older_charges('${accountId}', 1)`,
      `select roll_up_older_charges('${accountId}', 3)`,
    ].join(";"),
  );
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const address = { connectionString: url };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  onTestFinished(async () => {
    await client.end();
    await database.destroy();
  });
  const readUsage = async () => {
    const { rows } = await client.query("select slot_at, calls::int from usage_rollups order by 1");
    return rows.map(({ slot_at, calls }) => [slot_at.toISOString().slice(11, 16), calls]);
  };
  const readMark = async () => (await client.query("select rolled_up_from::text as mark from wallets")).rows[0].mark;
  expect(await readMark()).toContain("10:15");
  expect(await readUsage()).toEqual([
    ["10:15", 1],
    ["10:30", 2],
    ["10:45", 1],
  ]);
  await migrate(address);
  expect(await readMark()).toContain("10:00");
  const moved = [
    ["10:00", 2],
    ["10:15", 1],
    ["10:30", 2],
    ["10:45", 1],
  ];
  expect(await readUsage()).toEqual(moved);
  // One that comes late is in the half hour that was added, and is counted once.
  await client.query(insertCharge("10:20", minutes.length));
  await rollUpUsage(database);
  expect(await readUsage()).toEqual([["09:30", 1], ["10:00", 3], ...moved.slice(1)]);
  expect(await findViolations(database, { kind: "usage", accountIds: [accountId], now: new Date() })).toEqual([]);
});
