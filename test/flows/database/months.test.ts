import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { forgetOldEvents } from "../../../src/features/webhooks/index.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { countStrayRows, dropMonths, makeMonths } from "../../../src/platform/database/month-store.ts";
import { runCommand } from "../../harness/gateway-process.ts";
import { createTestDatabase } from "../../harness/test-database.ts";

/** Rows of a finished task, its event, a delivery, an attempt and a charge, as of the given time. */
function writeHistory(moment: Date, { state = "failed" }: { state?: "failed" | "pending" } = {}) {
  const clock = { now: () => moment, monotonicMs: () => 0 };
  const ids = createIdSource({ clock, randomBytes });
  const [task, event, delivery, charge] = [ids.next("task"), ids.next("evt"), ids.next("dlv"), ids.next("txn")];
  const at = `'${moment.toISOString()}'`;
  const statements = [
    `insert into tasks (id, account_id, key_id, type, model, state, phase, progress, version, request, inputs, steps, terms,
        output_ids, output, warnings, charge, units, request_id, tried, deadline_at, created_at, finished_at, updated_at)
      values ('${task}', 'acct_1', 'key_1', 'image', 'picture', 'canceled', 'ended', 0, 2,
        '{"type":"image","prompt":"a cat"}', '[]', '[]', '{}', '{}', '[]', '[]', 0, 0, 'req_1', '[]', ${at}, ${at}, ${at}, ${at})`,
    `insert into events (id, account_id, type, data, created_at)
      values ('${event}', 'acct_1', 'task.canceled', '{"task_id":"${task}"}', ${at})`,
    `insert into deliveries (id, event_id, account_id, url, lane, state, attempt_count, due_at, created_at)
      values ('${delivery}', '${event}', 'acct_1', 'https://example.com/hook', 'acct_1/a', '${state}', 1,
        ${state === "pending" ? at : "null"}, ${at})`,
    `insert into delivery_attempts (delivery_id, number, lease_id, attempted_at, duration_ms, status)
      values ('${delivery}', 1, 'lease', ${at}, 20, 500)`,
    `insert into charges (id, hold_id, account_id, unit, price_id, item_names, item_quantities, item_rates_nano, rates_per,
        minimum_nano, quota_units, paid, lost, created_at)
      values ('${charge}', 'hold_1', 'acct_1', 'money', 'price_1', '{images}', '{1}', '{5}', 1, 0, 1, 5, 0, ${at})`,
  ];
  return { task, event, delivery, charge, statements };
}

async function open(connectionString: string): Promise<{ client: pg.Client; database: Database }> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const address = { connectionString };
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  onTestFinished(async () => {
    await client.end();
    await database.destroy();
  });
  return { client, database };
}

async function openNew() {
  const place = await createTestDatabase();
  onTestFinished(() => place.close());
  return { ...(await open(place.url)), url: place.url };
}

const write = async (client: pg.Client, ...histories: { statements: string[] }[]) => {
  for (const { statements } of histories) for (const statement of statements) await client.query(statement);
};

/** The partition that contains a row, by the table that it was inserted into. */
async function locate(client: pg.Client, table: string, key: string, id: string): Promise<string[]> {
  const { rows } = await client.query(`select tableoid::regclass::text as part from ${table} where ${key} = $1`, [id]);
  return rows.map(({ part }) => part);
}

const listParts = async (client: pg.Client, parent: string): Promise<string[]> => {
  const { rows } = await client.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1",
    [parent],
  );
  return rows.map(({ name }) => name);
};

const now = new Date();
const monthAfter = (months: number, day = 2): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, day));
const nameMonth = (table: string, months: number): string =>
  `${table}_${monthAfter(months).toISOString().slice(0, 7).replace("-", "")}`;

describe("over all months", () => {
  test("an id is unique, and an event has one pending delivery per receiver", async () => {
    const { client } = await openNew();
    const [first, second] = [writeHistory(monthAfter(0), { state: "pending" }), writeHistory(monthAfter(1))];
    await write(client, first, second);
    expect(await locate(client, "tasks", "id", first.task)).toEqual([nameMonth("tasks", 0)]);
    expect(await locate(client, "tasks", "id", second.task)).toEqual([nameMonth("tasks", 1)]);
    for (const { statements } of [first, second]) {
      for (const statement of statements) {
        await expect(client.query(statement)).rejects.toThrow("duplicate key value");
      }
    }
    // Created a month after its event, but in the same partition as the row it must not duplicate.
    await expect(
      client.query(`insert into deliveries (id, event_id, account_id, url, lane, state, attempt_count, due_at, created_at)
        values ('${second.delivery}1', '${first.event}', 'acct_1', 'https://example.com/hook', 'acct_1/a', 'pending', 0, now(), now())`),
    ).rejects.toThrow(/duplicate key value .*event_id_lane_idx/);
  });

  test("a row is looked up in its own month only, even by a generic plan", async () => {
    const { client } = await openNew();
    await client.query(`select make_months('${monthAfter(0).toISOString()}', '${monthAfter(9).toISOString()}')`);
    const { task, event, delivery, charge, ...history } = writeHistory(monthAfter(1));
    await write(client, history);
    await client.query("set plan_cache_mode = force_generic_plan; set enable_seqscan = off");
    for (const [table, key, id] of [
      ["tasks", "id", task],
      ["events", "id", event],
      ["deliveries", "event_id", event],
      ["delivery_attempts", "delivery_id", delivery],
      ["charges", "id", charge],
    ] as const) {
      await client.query(`prepare seek_${table} as select ${key} from ${table} where ${key} = $1`);
      const { rows } = await client.query(`explain (analyze, costs off) execute seek_${table}('${id}')`);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).toContain(`on ${nameMonth(table, 1)}`);
      expect(plan).not.toContain(`on ${nameMonth(table, 2)}`);
      expect(plan).toMatch(/Subplans Removed: 1[01]/);
    }
  });
});

test("charges of all months are rolled up once, and never change, whichever partition they are in", async () => {
  const { client, database } = await openNew();
  await client.query("insert into accounts (id, email, created_at) values ('acct_1', 'a@example.com', now())");
  // Before the first month, in two months, and in one that does not exist yet.
  const histories = [-2, 0, 1, 4].map((months) => writeHistory(monthAfter(months)));
  await write(client, ...histories);
  await makeMonths(database, monthAfter(4));
  const places = ["charges_before", ...[0, 1, 4].map((months) => nameMonth("charges", months))];
  for (const [index, { charge }] of histories.entries()) {
    expect(await locate(client, "charges", "id", charge)).toEqual([places[index]]);
    for (const change of ["update charges set paid = 6", "delete from charges"]) {
      await expect(client.query(`${change} where id = '${charge}'`)).rejects.toThrow("never changed or deleted");
    }
  }
  await client.query("select roll_up_usage('{acct_1}', '{-infinity}', 'infinity')");
  const { rows } = await client.query("select sum(calls)::int as calls, sum(paid)::int as paid from usage_rollups");
  expect(rows).toEqual([{ calls: 4, paid: 20 }]);
});

describe("rows of a month that was not created in time", () => {
  test("are reported by doctor, move when it is created, and none is duplicated", async () => {
    const { client, database, url } = await openNew();
    const stray = writeHistory(monthAfter(4));
    await write(client, stray);
    expect(await locate(client, "tasks", "id", stray.task)).toEqual(["tasks_default"]);
    expect(await countStrayRows(database)).toEqual(
      ["tasks", "events", "deliveries", "delivery_attempts", "charges"].map((table) => ({ table, count: 1 })),
    );
    const doctor = await runCommand(["doctor"], { environment: { DATABASE_URL: url } });
    expect(doctor.stdout).toMatch(/✗ months +outside the monthly partitions: 1 of tasks, 1 of events/);
    await Promise.all([makeMonths(database, monthAfter(4)), makeMonths(database, monthAfter(4))]);
    expect(await locate(client, "tasks", "id", stray.task)).toEqual([nameMonth("tasks", 4)]);
    expect((await countStrayRows(database)).filter(({ count }) => count > 0)).toEqual([]);
    await expect(client.query(`update tasks set version = 3 where id = '${stray.task}'`)).rejects.toThrow(
      "cannot become canceled",
    );
    const { rows } = await client.query("select reloptions from pg_class where relname = $1", [nameMonth("tasks", 4)]);
    expect(rows).toEqual([{ reloptions: ["fillfactor=80"] }]);
  });
});

describe("months that are over", () => {
  test("are dropped once all their rows are expired, and the partition before the first is emptied", async () => {
    const { client, database } = await openNew();
    await makeMonths(database, monthAfter(2));
    const histories = [-3, 0, 1, 2].map((months) => writeHistory(monthAfter(months)));
    await write(client, ...histories);
    expect(await dropMonths(database, ["tasks"], monthAfter(1, 1))).toBe(2);
    const left = await sql<{ id: string }>`select id from tasks order by id`.execute(database);
    expect(left.rows.map(({ id }) => id)).toEqual(histories.slice(2).map(({ task }) => task));
    expect(await dropMonths(database, ["tasks"], monthAfter(2, 1))).toBe(1);
    expect(await listParts(client, "tasks")).not.toContain(nameMonth("tasks", 1));
    expect(await listParts(client, "tasks")).toContain("tasks_before");
  });

  test("of events are dropped 31 days after their end, with all deliveries, unless one is pending", async () => {
    const { client, database } = await openNew();
    await makeMonths(database, monthAfter(2));
    const [first, second] = [writeHistory(monthAfter(0)), writeHistory(monthAfter(1), { state: "pending" })];
    await write(client, first, second);
    const count = async (table: string): Promise<number> =>
      (await client.query(`select count(*)::int as count from ${table}`)).rows[0].count;
    const dayMs = 24 * 60 * 60 * 1000;
    const endOfFirst = monthAfter(1, 1).getTime() + 31 * dayMs;
    await forgetOldEvents(database, new Date(endOfFirst - 1));
    expect(await listParts(client, "events")).toContain(nameMonth("events", 0));
    await forgetOldEvents(database, new Date(endOfFirst));
    for (const table of ["events", "deliveries", "delivery_attempts"]) {
      expect(await listParts(client, table)).not.toContain(nameMonth(table, 0));
      expect(await count(table)).toBe(1);
    }
    const longAfter = new Date(endOfFirst + 90 * dayMs);
    await forgetOldEvents(database, longAfter);
    expect(await locate(client, "deliveries", "id", second.delivery)).toEqual([nameMonth("deliveries", 1)]);
    await client.query("update deliveries set state = 'failed', due_at = null");
    await forgetOldEvents(database, longAfter);
    expect(await count("events")).toBe(0);
    expect(await listParts(client, "deliveries")).not.toContain(nameMonth("deliveries", 1));
  });
});
