import { connect } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { presentStatementCsv } from "../../src/cli/present-statement.ts";
import { listStatement } from "../../src/features/ledger/index.ts";
import { openUsageStage, toAmount, type UsageCaller, type UsageStage } from "../harness/ledger/usage-stage.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Entry = {
  id: string;
  created: number;
  kind: string;
  unit: string;
  amount: string;
  balance: string;
  bucket: { kind: string; balance: string; expires_at: string | null };
  description: string;
  cause: { kind: string; id: string };
  charge_id: string | null;
};
type Page = { data: Entry[]; has_more: boolean; next_cursor: string | null };

let stage: UsageStage;
let caller: UsageCaller;
beforeAll(async () => {
  stage = await openUsageStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  stage.setTime("2026-11-15T12:00:00Z");
  caller = await stage.gateway.createCaller();
});

async function readAll(query: string, limit: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = ""; ; ) {
    const page = await stage.read<Page>(`/ledger?${query}&limit=${limit}${after}`, caller.key);
    entries.push(...page.data);
    if (page.next_cursor === null) return entries;
    expect(page.data).toHaveLength(limit);
    after = `&after=${page.next_cursor}`;
  }
}

/** Movements of money and quotas, in buckets of every kind, some used up; ten minutes apart. */
async function makeHistory(): Promise<void> {
  const { accountId } = caller;
  const pass = () => stage.clock.advance(10 * 60_000);
  await stage.book(accountId, { kind: "top-up", amount: toAmount("20") });
  pass();
  for (const expiresAt of [new Date("2026-11-20T00:00:00Z"), null]) {
    await stage.book(accountId, { kind: "grant", unit: "money", amount: toAmount("0.3"), expiresAt });
    pass();
  }
  await stage.book(accountId, { kind: "grant", unit: "image", amount: 3n, expiresAt: null });
  for (let round = 0; round < 9; round += 1) {
    pass();
    const quota = round % 3 === 0 ? { quota: { kind: "image" as const, units: 1n } } : {};
    const id = await stage.charge({ ...caller, items: { images: 1n }, rate: "0.11", per: 1n, ...quota });
    if (round % 4 !== 1) continue;
    pass();
    await stage.book(accountId, {
      ...{ kind: "refund", chargeId: id as `txn_${string}`, amount: toAmount("0.07") },
    });
  }
  await stage.book(accountId, { kind: "adjust", amount: -toAmount("1.5") as ReturnType<typeof toAmount> });
}

/** The statement as the command line prints it. */
async function readOperatorsLines(): Promise<string[][]> {
  const entries = await listStatement(stage.gateway.database, caller.accountId, { from: null, to: null, limit: 1000 });
  return presentStatementCsv(entries)
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(","));
}

test("every page has the same balances as the whole statement and the command line", async () => {
  await makeHistory();
  const whole = await readAll("", 100);
  const expected = (await readOperatorsLines()).toReversed();
  expect(whole.map(({ id, kind, unit, amount, balance }) => [id.split(":")[0], kind, unit, amount, balance])).toEqual(
    expected.map(([, id, , kind, unit, amount, balance]) => [id, kind, unit, amount, balance]),
  );
  for (const limit of [1, 3]) expect(await readAll("", limit)).toEqual(whole);
  expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
  const { available_balance: available } = await stage.read<Record<string, string>>("/balance", caller.key);
  expect(whole.find(({ unit }) => unit === "money")?.balance).toBe(available);
});

test("any time range has the same lines as the whole statement", async () => {
  await makeHistory();
  const whole = await readAll("", 100);
  const times = [...new Set(whole.map(({ created }) => created))];
  for (const [index, first] of times.entries()) {
    const last = times[Math.floor(index / 2)] ?? first;
    const [from, to] = [first, last + 1].map((seconds) => new Date(seconds * 1000).toISOString());
    const part = await readAll(`from=${from}&to=${to}`, 3);
    expect(part).toEqual(whole.filter(({ created }) => created >= first && created <= last));
    expect(part.length).toBeGreaterThan(0);
  }
  expect(await readAll("from=2026-12-01", 5)).toEqual([]);
  expect(await readAll("to=2026-01-01", 5)).toEqual([]);
});

test("clock differences leave no line out, and every balance stays correct", async () => {
  await makeHistory();
  const later = stage.clock.now();
  // Another gateway, with a clock half an hour behind, writes in between.
  stage.clock.advance(-30 * 60_000);
  await stage.book(caller.accountId, { kind: "top-up", amount: toAmount("5") });
  stage.setTime(later);
  await stage.book(caller.accountId, { kind: "top-up", amount: toAmount("7") });
  const whole = await readAll("", 100);
  for (const { created } of whole) {
    const [from, to] = [created, created + 1].map((seconds) => new Date(seconds * 1000).toISOString());
    expect(await readAll(`from=${from}&to=${to}`, 2)).toEqual(whole.filter((entry) => entry.created === created));
  }
  const recent = new Date(later.getTime() - 25 * 60_000).toISOString();
  expect(await readAll(`from=${recent}`, 2)).toEqual(
    whole.filter(({ created }) => created * 1000 >= Date.parse(recent)),
  );
});

test("a line contains its description, and no internal notes", async () => {
  await stage.book(caller.accountId, { kind: "top-up", amount: toAmount("1") });
  const expiresAt = new Date("2026-12-01T00:00:00Z");
  await stage.book(caller.accountId, { kind: "grant", unit: "money", amount: toAmount("0.05"), expiresAt });
  const id = await stage.charge({ ...caller, items: { images: 1n }, rate: "0.11", per: 1n, model: "maker/picture" });
  const { data } = await stage.read<Page>("/ledger", caller.key);
  expect(data).toMatchObject([
    {
      ...{ id: `${id}:1`, kind: "charge", unit: "money", amount: "-0.06", balance: "0.94", charge_id: id },
      bucket: { kind: "cash", balance: "0.94", expires_at: null },
      description: "maker/picture: 1 image",
      cause: { kind: "request" },
    },
    {
      ...{ id: `${id}:0`, amount: "-0.05", balance: "1.00" },
      bucket: { kind: "gift", balance: "0.00", expires_at: expiresAt.toISOString() },
    },
    { kind: "grant", amount: "0.05", balance: "1.05", description: "Gift", charge_id: null },
    { kind: "top_up", amount: "1.00", balance: "1.00", description: "Top-up", cause: { kind: "operator" } },
  ]);
  const csv: string = await stage.read("/ledger?format=csv", caller.key);
  expect(JSON.stringify(data) + csv).not.toMatch(/ada of the house|inner note/);
});

test("as CSV the statement is complete, oldest first, with the command line's numbers, over many pages", async () => {
  const { accountId } = caller;
  const { ids } = stage.gateway.parts;
  const cause = { kind: "operator", id: "act_test" } as const;
  const topUp = { kind: "top-up", accountId, amount: toAmount("0.01"), channel: "operator", cause } as const;
  await Promise.all(Array.from({ length: 2001 }, () => stage.ledger.apply({ ...topUp, id: ids.next("txn") })));
  const csv: string = await stage.read("/ledger?format=csv&limit=5", caller.key);
  const [heading, ...lines] = csv.trimEnd().split("\r\n");
  expect(heading).toBe(
    "id,time,kind,unit,amount,balance,bucket,bucket_kind,bucket_balance,cause_kind,cause_id,price_id,items,per,minimum",
  );
  expect(lines).toHaveLength(2001);
  expect(lines.at(-1)?.split(",")[5]).toBe("20.01");
  const entries = await listStatement(stage.gateway.database, accountId, { from: null, to: null, limit: 5000 });
  const expected = presentStatementCsv(entries).split("\r\n").slice(1);
  expect(lines).toEqual(expected.map((line) => line.split(",").toSpliced(12, 2).slice(1).join(",")));
  const response = await stage.gateway.get("/ledger?format=csv", caller.key);
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(response.headers.get("content-disposition")).toBe('attachment; filename="statement.csv"');
  await response.body?.cancel();
});

describe("a very long history", () => {
  let old: UsageCaller;
  beforeAll(async () => {
    old = await stage.gateway.createCaller();
    await writeLongHistory(old, 100_001);
  });

  test("is too long for one file, and its parts are not", async () => {
    const response = await stage.gateway.get("/ledger?format=csv", old.key);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_parameter", param: "from", message: expect.stringContaining("100000 lines") },
    });
    const csv: string = await stage.read("/ledger?format=csv&from=2026-02-01&to=2026-02-02", old.key);
    expect(csv.split("\r\n")).toHaveLength(24 * 60 + 2);
    expect(csv).toContain("2026-02-01T00:00:00.000Z,top_up,money,0.000000001,0.00004464,");
  });

  test("is complete for the command line, with every balance", async () => {
    const range = { from: null, to: null };
    const entries = await listStatement(stage.gateway.database, old.accountId, { ...range, limit: 25_000 });
    expect(entries).toHaveLength(25_000);
    expect(entries.every(({ balance }, index) => balance === BigInt(75_002 + index))).toBe(true);
  });

  test("stops when the reader disconnects", async () => {
    const isGivenUp = () =>
      stage.gateway.logs.some(({ account_id: id, aborted }) => id === old.accountId && aborted === true);
    const socket = connect(stage.gateway.port, "127.0.0.1");
    const path = "/v1/ledger?format=csv&to=2026-03-01";
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${old.key}\r\n\r\n`);
    await new Promise((heard) => socket.once("data", heard));
    expect(isGivenUp()).toBe(false);
    socket.destroy();
    await waitUntil("the log line", isGivenUp);
  });
});

/** More lines than a test can book one by one, one a minute, written past the ledger. */
async function writeLongHistory({ accountId }: UsageCaller, count: number): Promise<void> {
  const bucketId = `bkt_${accountId.slice(5)}`;
  await stage.gateway.database.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`insert into buckets (id, account_id, kind, unit, posted, held, entry_count, is_open, opened_at)
      values (${bucketId}, ${accountId}, 'cash', 'money', ${count}, 0, ${count}, true, now())`.execute(tx);
    await sql`insert into postings (id, leg, account_id, kind, unit, debit, credit, amount, bucket_id, entry_number,
        balance_after, fingerprint, cause_kind, cause_id, created_at)
      select 'txn_' || ${accountId.slice(5)} || n, 0, ${accountId}, 'top_up', 'money', 'funding:test', ${bucketId}, 1,
          ${bucketId}, n, n, 'test', 'operator', 'act_test', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute'
        from generate_series(1, ${count}::int) as n`.execute(tx);
  });
}

test.each([
  ["/ledger?after=txn_unknown:0", "after"],
  ["/ledger?after=txn_unknown", "after"],
  ["/ledger?limit=1000", "limit"],
  ["/ledger?from=2026-11-02&to=2026-11-01", "to"],
  ["/ledger?to=soon", "to"],
  ["/ledger?format=xml", "format"],
  ["/holds?after=1", "after"],
])("%s is rejected, and the error names %s", async (path, param) => {
  const response = await stage.gateway.get(path, caller.key);
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: "invalid_parameter", param } },
  ]);
});

test("another account's lines are not shown, and cannot be a cursor", async () => {
  await stage.book(caller.accountId, { kind: "top-up", amount: toAmount("1") });
  const { data } = await stage.read<Page>("/ledger", caller.key);
  const stranger = await stage.gateway.createCaller();
  expect(await stage.read("/ledger", stranger.key)).toMatchObject({ data: [], has_more: false });
  expect((await stage.gateway.get(`/ledger?after=${data[0]?.id}`, stranger.key)).status).toBe(400);
});
