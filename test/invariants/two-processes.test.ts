import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createLedger } from "../../src/features/ledger/create-ledger.ts";
import type { CommitPoint } from "../../src/features/ledger/decide-within.ts";
import type { HoldOperation, Operation, Result, SettleOperation } from "../../src/features/ledger/operation.ts";
import { findViolations } from "../../src/features/ledger/verify-ledger.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { countRuns } from "../harness/count-runs.ts";
import { checkJournal, type Intent } from "../harness/ledger/check-ledger-journal.ts";
import { createLedgerLoad, createRandom } from "../harness/ledger/ledger-load.ts";
import {
  createAccounts,
  createBill,
  createNotes,
  type LedgerProcess,
  startLedgerProcess,
} from "../harness/ledger/ledger-process.ts";
import { recordSteps, replaySteps, type Sent } from "../harness/ledger/replay-ledger.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { testSeed } from "../harness/test-seed.ts";
import { waitUntil } from "../harness/wait-until.ts";

const timeoutMs = 180_000;
const hourMs = 60 * 60 * 1000;

// The size of the random test.
const rounds = countRuns(12, 2);
const callers = 24;
const stepsOfCaller = 5;

type Way = Intent["way"];

type LedgerDatabase = AsyncDisposable & { url: string; database: Database; accountIds: AccountId[] };

async function openLedgerDatabase(accountNames: readonly string[]): Promise<LedgerDatabase> {
  const { url, close } = await createTestDatabase();
  const address = { connectionString: url };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  await createNotes(database);
  return {
    url,
    database,
    accountIds: await createAccounts(database, accountNames),
    async [Symbol.asyncDispose]() {
      await database.destroy();
      await close();
    },
  };
}

/** A ledger in this process, for timing by its failpoints. */
function openLedger(url: string, failpoint: (point: CommitPoint) => void = () => {}) {
  const address = { connectionString: url };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  const ledger = createLedger({ database, address, clock: systemClock, onTrouble: () => {}, failpoint });
  return {
    ledger,
    async [Symbol.asyncDispose]() {
      await ledger.close();
      await database.destroy();
    },
  };
}

function createHold(id: string, accountId: AccountId, fields: Partial<HoldOperation> = {}): HoldOperation {
  return {
    kind: "hold",
    id: `hold_${id}`,
    accountId,
    amount: nano(10n),
    quota: null,
    budget: null,
    cause: { kind: "request", id: `req_${id}` },
    expiresAt: new Date(Date.now() + hourMs),
    ...fields,
  };
}

function createSettle(id: string, accountId: AccountId, cost: bigint): SettleOperation {
  const bill = createBill(cost);
  return { kind: "settle", holdId: `hold_${id}`, accountId, bill, overrun: "refuse", budgetAmount: null };
}

function createTopUp(id: string, accountId: AccountId, amount: bigint): Operation {
  const cause = { kind: "operator", id: "test" } as const;
  return { kind: "top-up", id: `txn_${id}`, accountId, amount: nano(amount), channel: "test", cause };
}

function countKinds(results: readonly Result[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) {
    const name = "reason" in result ? result.reason : result.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function expectSound(database: Database, now = new Date()): Promise<void> {
  expect(await findViolations(database, { kind: "whole", accountIds: "all", now })).toEqual([]);
}

test.each(["group commit", "transactions"])(
  "of 100 concurrent holds from two processes on a balance for one, one passes (%s)",
  async (way) => {
    await using place = await openLedgerDatabase(["one"]);
    await using first = await startLedgerProcess(place);
    await using second = await startLedgerProcess(place);
    const accountId: AccountId = "acct_one";
    await first.apply(createTopUp("start", accountId, 10n));
    const results = await holdFromBoth([first, second], way, (index) => createHold(`h${index}`, accountId));
    expect(countKinds(results)).toEqual({ held: 1, "insufficient-balance": 99 });
    await expectSound(place.database);
  },
  timeoutMs,
);

test.each(["group commit", "transactions"])(
  "of 100 concurrent calls from two processes on a budget for one, one passes (%s)",
  async (way) => {
    await using place = await openLedgerDatabase(["one"]);
    await using first = await startLedgerProcess(place);
    await using second = await startLedgerProcess(place);
    const accountId: AccountId = "acct_one";
    await first.apply(createTopUp("start", accountId, 10_000n));
    const budget = { keyId: "key_one", amount: nano(10n), period: "total" } as const;
    const results = await holdFromBoth([first, second], way, (index) => createHold(`h${index}`, accountId, { budget }));
    expect(countKinds(results)).toEqual({ held: 1, "key-budget-exceeded": 99 });
    await expectSound(place.database);
  },
  timeoutMs,
);

async function holdFromBoth(
  processes: readonly [LedgerProcess, LedgerProcess],
  way: string,
  create: (index: number) => HoldOperation,
): Promise<Result[]> {
  const attempts = Array.from({ length: 100 }, async (_, index) => {
    const ledger = processes[index % 2 === 0 ? 0 : 1];
    if (way === "group commit") return [await ledger.apply(create(index))];
    return await ledger.applyWithin([create(index)], { note: `note ${index}`, ending: "commit" });
  });
  return (await Promise.all(attempts)).flat();
}

test("a hold inside a transaction that rolls back leaves nothing", { timeout: timeoutMs }, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using ledger = await startLedgerProcess(place);
  const accountId: AccountId = "acct_one";
  await ledger.apply(createTopUp("start", accountId, 10n));
  const budget = { keyId: "key_one", amount: nano(10n), period: "total" } as const;
  const hold = createHold("undone", accountId, { budget });
  const undone = await ledger.applyWithin([hold], { note: "undone", ending: "rollback" });
  expect(undone).toEqual([{ kind: "held", unit: "money", amount: 10n, isReplay: false }]);
  const { rows } = await sql`
    select (select count(*) from notes) + (select count(*) from holds) + (select count(*) from key_spending)
      + (select sum(held) from buckets) as left`.execute(place.database);
  expect(rows).toEqual([{ left: "0" }]);
  // The money and the budget are free: the same hold passes, and is new.
  expect(await ledger.apply(hold)).toEqual({ kind: "held", unit: "money", amount: 10n, isReplay: false });
  await expectSound(place.database);
});

test("holds in transactions and in groups on the same accounts, in opposite orders, never deadlock", {
  timeout: timeoutMs,
}, async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  await using place = await openLedgerDatabase(names);
  {
    await using first = await startLedgerProcess(place);
    await using second = await startLedgerProcess(place);
    await Promise.all(place.accountIds.map((id, index) => first.apply(createTopUp(`start${index}`, id, 100_000n))));
    const rounds = Array.from({ length: 20 }, async (_, round) => {
      const create = (way: string, ids: readonly AccountId[]): HoldOperation[] =>
        ids.map((id) => createHold(`${way}${round}${id.slice("acct_".length)}`, id));
      const backwards = place.accountIds.toReversed();
      const within = { note: `round ${round}`, ending: "commit" } as const;
      const answers = await Promise.all([
        ...create("groupforth", place.accountIds).map((hold) => first.apply(hold)),
        ...create("groupback", backwards).map((hold) => second.apply(hold)),
        first.applyWithin(create("withinback", backwards), within),
        second.applyWithin(create("withinforth", place.accountIds), { ...within, note: `other ${round}` }),
      ]);
      return answers.flat();
    });
    const results = (await Promise.all(rounds)).flat();
    expect(countKinds(results)).toEqual({ held: 20 * 4 * names.length });
  }
  // The server publishes a connection's statistics when the connection ends.
  await waitUntil("the end of all other connections", async () => (await countOthers(place.database)) === 0);
  const { rows } = await sql`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(place.database);
  expect(rows).toEqual([{ deadlocks: 0n }]);
  await expectSound(place.database);
});

async function countOthers(database: Database): Promise<number> {
  const { rows } = await sql`
    select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(database);
  return rows.length;
}

test("a hold that one process opened is settled, released or extended by one with an older cache of the account", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using first = await startLedgerProcess(place);
  await using second = await startLedgerProcess(place);
  const accountId: AccountId = "acct_one";
  await first.apply(createTopUp("start", accountId, 1000n));
  const endings = [
    (id: string): Operation => createSettle(id, accountId, 4n),
    (id: string): Operation => ({ kind: "release", accountId, holdId: `hold_${id}` }),
    (id: string): Operation => {
      const extension = { amount: nano(20n), quotaUnits: 0n, budgetAmount: null, expiresAt: null };
      return { kind: "extend", accountId, holdId: `hold_${id}`, ...extension };
    },
  ];
  const budget = { keyId: "key_one", amount: nano(1000n), period: "total" } as const;
  const results: Result[] = [];
  for (const [index, createEnding] of endings.entries()) {
    await first.apply(createHold(`mine${index}`, accountId));
    // The first process's cache lacks this bucket, this hold and its key's spending.
    const gift = { unit: "money", amount: 5n, channel: "test", cause: { kind: "operator", id: "test" } } as const;
    await second.apply({ kind: "grant", id: `txn_gift${index}`, accountId, ...gift, expiresAt: null });
    await second.apply(createHold(`theirs${index}`, accountId, { budget }));
    results.push(await first.apply(createEnding(`theirs${index}`)));
  }
  expect(countKinds(results)).toEqual({ settled: 1, released: 1, extended: 1 });
  await expectSound(place.database);
});

test("two processes that cache an account add to each other's writes, and neither has to reload", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one"]);
  const accountId: AccountId = "acct_one";
  const points: CommitPoint[] = [];
  await using first = openLedger(place.url, (point) => void points.push(point));
  await using second = openLedger(place.url, (point) => void points.push(point));
  await first.ledger.apply(createTopUp("start", accountId, 1000n));
  const budget = { keyId: "key_one", amount: nano(200n), period: "total" } as const;
  await first.ledger.apply(createHold("a0", accountId, { budget }));
  await second.ledger.apply(createHold("b0", accountId, { budget }));
  points.length = 0;
  for (let round = 0; round < 5; round += 1) {
    await Promise.all([
      first.ledger.apply(createHold(`a${round + 1}`, accountId, { budget })),
      second.ledger.apply(createHold(`b${round + 1}`, accountId, { budget })),
      first.ledger.apply(createSettle(`a${round}`, accountId, 9n)),
      second.ledger.apply(createSettle(`b${round}`, accountId, 7n)),
    ]);
  }
  expect(points).not.toContain("locked");
  expect(points).not.toContain("loaded");
  const { rows } =
    await sql`select posted, buckets.held, version = plain_writes + 1 as is_plain, key_spending.held as budget_held,
    spent from buckets, wallets, key_spending`.execute(place.database);
  expect(rows).toEqual([{ posted: 1000n - 5n * 16n, held: 20n, is_plain: true, budget_held: 20n, spent: 80n }]);
  // Spent money and budget are refused, although the process's cache says otherwise.
  await first.ledger.apply(createHold("most", accountId, { amount: nano(95n), budget }));
  expect(await second.ledger.apply(createHold("more", accountId, { amount: nano(20n), budget }))).toMatchObject({
    ...{ kind: "refused", reason: "key-budget-exceeded", missing: 15n },
  });
  await first.ledger.apply(createHold("rest", accountId, { amount: nano(800n) }));
  expect(await second.ledger.apply(createHold("none", accountId, { amount: nano(6n) }))).toMatchObject({
    ...{ kind: "refused", reason: "insufficient-balance", missing: 1n },
  });
  await expectSound(place.database);
});

test("an answer that changes nothing reflects the database, not a cache", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using first = await startLedgerProcess(place);
  await using second = await startLedgerProcess(place);
  const accountId: AccountId = "acct_one";
  await first.apply(createTopUp("start", accountId, 1000n));
  const extension = { kind: "extend", accountId, quotaUnits: 0n, budgetAmount: null, expiresAt: null } as const;
  for (const id of ["raised", "ended"]) await first.apply(createHold(id, accountId));
  await second.apply({ ...extension, holdId: "hold_raised", amount: nano(20n) });
  await second.apply({ kind: "release", accountId, holdId: "hold_ended" });
  // In the first process's cache both holds are open, with 10 each.
  expect(await first.apply({ ...extension, holdId: "hold_ended", amount: nano(10n) })).toEqual({
    kind: "already-resolved",
    state: "released",
  });
  expect(await first.apply(createSettle("raised", accountId, 15n))).toMatchObject({ kind: "settled", paid: 15n });
  await expectSound(place.database);
});

test("a repetition is answered as one, also beside a new operation on the same account", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using own = openLedger(place.url);
  const accountId: AccountId = "acct_one";
  await own.ledger.apply(createTopUp("start", accountId, 1000n));
  const release = { kind: "release", accountId, holdId: "hold_released" } as const;
  const settle = createSettle("settled", accountId, 7n);
  for (const id of ["settled", "released"]) await own.ledger.apply(createHold(id, accountId));
  await own.ledger.apply(settle);
  await own.ledger.apply(release);
  const beside = (id: string, operation: Operation): Promise<Result[]> =>
    Promise.all([own.ledger.apply(createHold(id, accountId)), own.ledger.apply(operation)]);
  expect(await beside("new1", settle)).toMatchObject([{ kind: "held" }, { kind: "settled", paid: 7n, isReplay: true }]);
  expect(await beside("new2", release)).toMatchObject([{ kind: "held" }, { kind: "released", isReplay: true }]);
  expect(await beside("new3", createSettle("released", accountId, 7n))).toMatchObject([
    { kind: "held" },
    { kind: "already-resolved", state: "released" },
  ]);
  expect(await beside("new4", createHold("settled", accountId))).toMatchObject([
    { kind: "held" },
    { kind: "held", isReplay: true },
  ]);
  await expectSound(place.database);
});

test("an id that two processes use at once for two accounts goes to one of them, and the other gets a conflict", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one", "two"]);
  await using first = await startLedgerProcess(place);
  await using second = await startLedgerProcess(place);
  await Promise.all(place.accountIds.map((id, index) => first.apply(createTopUp(`start${index}`, id, 1000n))));
  const results: Result[] = [];
  for (let round = 0; round < 40; round += 1) {
    // Alone in its batch each time, so that no other operation causes a reload.
    const id = `${round}`;
    const use = (ledger: LedgerProcess, accountId: AccountId): Promise<Result> =>
      ledger.apply(round % 2 === 0 ? createTopUp(id, accountId, 5n) : createHold(id, accountId));
    results.push(...(await Promise.all([use(first, "acct_one"), use(second, "acct_two")])));
  }
  expect(countKinds(results)).toEqual({ booked: 20, held: 20, "id-reused": 40 });
  await expectSound(place.database);
});

test("an operation that cannot be written does not block others of its batch", { timeout: timeoutMs }, async () => {
  await using place = await openLedgerDatabase(["one", "two"]);
  await using own = openLedger(place.url);
  for (const [index, id] of place.accountIds.entries()) await own.ledger.apply(createTopUp(`start${index}`, id, 1000n));
  await sql`alter table holds add constraint holds_without_poison check (cause_id <> 'poison')`.execute(place.database);
  const holds = Array.from({ length: 40 }, (_, index) =>
    createHold(`h${index}`, index % 3 === 0 ? "acct_one" : "acct_two"),
  );
  holds.splice(17, 0, createHold("poison", "acct_two", { cause: { kind: "request", id: "poison" } }));
  const answers = await Promise.allSettled(holds.map((hold) => own.ledger.apply(hold)));
  const refused = answers.flatMap((answer, index) => (answer.status === "rejected" ? [holds[index]?.id] : []));
  expect(refused).toEqual(["hold_poison"]);
  const { rows } = await sql`select count(*) as holds from holds`.execute(place.database);
  expect(rows).toEqual([{ holds: 40n }]);
  await expectSound(place.database);
});

test("an operation sent twice in a batch happens once; of two endings, one does", { timeout: timeoutMs }, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using own = openLedger(place.url);
  const accountId: AccountId = "acct_one";
  const sendTogether = (operations: readonly Operation[]): Promise<Result[]> =>
    Promise.all(operations.map((operation) => own.ledger.apply(operation)));
  const topUp = createTopUp("start", accountId, 100n);
  const readReplays = (results: readonly Result[]) => results.map((result) => "isReplay" in result && result.isReplay);
  expect(readReplays(await sendTogether([topUp, topUp]))).toEqual([false, true]);
  const hold = createHold("twice", accountId);
  expect(readReplays(await sendTogether([hold, hold]))).toEqual([false, true]);
  const settle = createSettle("twice", accountId, 7n);
  expect(await sendTogether([settle, settle])).toEqual([
    { kind: "settled", unit: "money", paid: 7n, lost: 0n, isReplay: false },
    { kind: "settled", unit: "money", paid: 7n, lost: 0n, isReplay: true },
  ]);
  await own.ledger.apply(createHold("ended", accountId));
  const release = { kind: "release", accountId, holdId: "hold_ended" } as const;
  expect(await sendTogether([release, createSettle("ended", accountId, 7n)])).toEqual([
    { kind: "released", isReplay: false },
    { kind: "already-resolved", state: "released" },
  ]);
  const { rows } = await sql`
    select posted, held, (select count(*) from charges) as charges from buckets`.execute(place.database);
  expect(rows).toEqual([{ posted: 93n, held: 0n, charges: 1n }]);
  await expectSound(place.database);
});

test("refunded money is available to the next operation of its batch", { timeout: timeoutMs }, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using own = openLedger(place.url);
  const accountId: AccountId = "acct_one";
  const cause = { kind: "operator", id: "test" } as const;
  const gift = { kind: "grant", unit: "money", amount: 10n, expiresAt: null, channel: "test", cause } as const;
  await own.ledger.apply({ ...gift, id: "txn_gift", accountId });
  await own.ledger.apply(createHold("spent", accountId));
  await own.ledger.apply(createSettle("spent", accountId, 10n));
  // The gift is used up by now, and its bucket closed.
  const refund = { kind: "refund", id: "txn_back", accountId, chargeId: "txn_spent", amount: 10n, cause } as const;
  const answers = await Promise.all([own.ledger.apply(refund), own.ledger.apply(createHold("next", accountId))]);
  expect(answers).toMatchObject([{ kind: "booked" }, { kind: "held" }]);
  await expectSound(place.database);
});

/** A proxy between a ledger and the server that drops the connection on demand. */
async function startFaultyLine(url: string) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-line-"));
  const socketName = ".s.PGSQL.5432";
  const serverDir = new URL(url).searchParams.get("host") ?? "";
  let cutAt: "question" | "answer" | null = null;
  let cuts = 0;
  const ends = new Set<Socket>();
  const line = createServer((near) => {
    const far = connect(join(serverDir, socketName));
    ends.add(near);
    const pass = (kind: "question" | "answer", piece: Buffer | string, to: Socket): void => {
      if (cutAt !== kind) return void to.write(piece);
      cutAt = null;
      cuts += 1;
      near.destroy();
      far.destroy();
    };
    near.on("data", (piece) => pass("question", piece, far)).on("error", () => {});
    far.on("data", (piece) => pass("answer", piece, near)).on("error", () => {});
    near.on("close", () => {
      ends.delete(near);
      far.end();
    });
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((settle) => line.listen(join(folder, socketName), settle));
  const throughLine = new URL(url);
  throughLine.searchParams.set("host", folder);
  return {
    url: throughLine.href,
    /** Drops the next message of the ledger, or of the server. */
    cutNext(kind: "question" | "answer"): void {
      cutAt = kind;
    },
    cutNow(): void {
      for (const end of ends) end.destroy();
    },
    countCuts: () => cuts,
    async [Symbol.asyncDispose]() {
      await new Promise((settle) => line.close(settle));
      rmSync(folder, { recursive: true });
    },
  };
}

test.each([
  { point: "decided", lost: "question" },
  { point: "decided", lost: "answer" },
  { point: "written", lost: "question" },
  { point: "written", lost: "answer" },
] as const)(
  "if the $lost at a commit is lost (after $point), it is sent again with the same ids and happens once",
  async ({ point, lost }) => {
    await using place = await openLedgerDatabase(["one"]);
    await using line = await startFaultyLine(place.url);
    let isArmed = false;
    await using own = openLedger(line.url, (reached) => {
      if (!isArmed || reached !== point) return;
      isArmed = false;
      line.cutNext(lost);
    });
    const accountId: AccountId = "acct_one";
    await own.ledger.apply(createTopUp("start", accountId, 100n));
    await own.ledger.apply(createHold("before", accountId));
    isArmed = true;
    // Incoming money is committed under locks; a hold is decided from memory.
    const operation =
      point === "written" ? createTopUp("more", accountId, 5n) : createHold("during", accountId, { amount: nano(5n) });
    const result = await own.ledger.apply(operation);
    expect(line.countCuts()).toBe(1);
    // A lost answer was a success already.
    expect(result).toMatchObject({ kind: point === "written" ? "booked" : "held", isReplay: lost === "answer" });
    const { rows } = await sql`select posted, held from buckets`.execute(place.database);
    expect(rows).toEqual([point === "written" ? { posted: 105n, held: 10n } : { posted: 100n, held: 15n }]);
    await expectSound(place.database);
  },
  timeoutMs,
);

test("a write that lost its connection while it waited in the server happens once, though it was sent again", {
  timeout: timeoutMs,
}, async () => {
  await using place = await openLedgerDatabase(["one"]);
  await using line = await startFaultyLine(place.url);
  await using own = openLedger(line.url);
  const accountId: AccountId = "acct_one";
  await own.ledger.apply(createTopUp("start", accountId, 100n));
  await own.ledger.apply(createHold("before", accountId));
  const countWaiting = async (): Promise<number> => {
    const { rows } = await sql`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      place.database,
    );
    return rows.length;
  };
  const blocked = place.database.transaction().execute(async (tx) => {
    await sql`select 1 from wallets for update`.execute(tx);
    const answer = own.ledger.apply(createSettle("before", accountId, 8n));
    await waitUntil("a write that waits", async () => (await countWaiting()) === 1);
    line.cutNow();
    await waitUntil("a second write that waits", async () => (await countWaiting()) === 2);
    return { answer };
  });
  const { answer } = await blocked;
  expect(await answer).toMatchObject({ kind: "settled", paid: 8n });
  const { rows } = await sql`select posted, held from buckets`.execute(place.database);
  expect(rows).toEqual([{ posted: 92n, held: 0n }]);
  await expectSound(place.database);
});

test("any concurrent operations of two processes on the same accounts are serializable", {
  timeout: timeoutMs,
}, async () => {
  const random = createRandom(testSeed);
  await using place = await openLedgerDatabase(["a", "b", "c", "d"]);
  await recordSteps(place.database);
  const names = ["one", "other"];
  // The connections' application names identify the processes.
  await using one = await startLedgerProcess({ url: `${place.url}&application_name=one` });
  await using other = await startLedgerProcess({ url: `${place.url}&application_name=other` });
  const load = createLedgerLoad(random, place.accountIds);
  const sent: Sent[] = [];
  const counts = [0, 0];
  let now = new Date("2026-01-01T20:00:00Z");

  async function send(index: number, operation: Operation, way: Way): Promise<void> {
    const ledger = index === 0 ? one : other;
    const number = (counts[index] ?? 0) + 1;
    counts[index] = number;
    const note = `${names[index]} ${number}`;
    const ending = way === "rollback" ? "rollback" : "commit";
    const result =
      way === "group" ? await ledger.apply(operation) : (await ledger.applyWithin([operation], { note, ending }))[0];
    if (result === undefined) throw new Error("An operation was not answered.");
    sent.push({ operation, process: names[index] ?? "", number, now, way, note, result });
    if (way !== "rollback") load.learn(operation, result);
  }

  async function call(): Promise<void> {
    for (let step = 0; step < stepsOfCaller; step += 1) {
      const operations = load.choose(now);
      // A single operation goes to either process; two go to both at once, whether they are the same or rivals.
      const first = random.below(2);
      await Promise.all(
        operations.map((operation, index) => send((first + index) % 2, operation, chooseWay(operation))),
      );
    }
  }

  function chooseWay(operation: Operation): Way {
    if (!["hold", "settle", "release"].includes(operation.kind) || random.below(3) > 0) return "group";
    return random.below(3) === 0 ? "rollback" : "within";
  }

  for (let round = 0; round < rounds; round += 1) {
    await Promise.all([one.setTime(now), other.setTime(now)]);
    await Promise.all(Array.from({ length: callers }, call));
    now = new Date(now.getTime() + random.below(hourMs));
  }
  await Promise.all([one.setTime(now), other.setTime(now)]);
  const endings = load.listEndings().map((operation, index) => send(index % 2, operation, "group"));
  await Promise.all(endings);

  console.log(
    `two processes: seed ${testSeed}, ${sent.length} answers: ${JSON.stringify(countKinds(sent.map((one) => one.result)))}`,
  );
  const effects = await replaySteps(place.database, place.accountIds, sent);
  expect(await checkJournal(place.database, sent)).toEqual({ lost: [], doubled: [] });
  await expectSound(place.database, now);
  await expectFunded(place.database);
  expect(effects).toBeGreaterThan(sent.length / 3);
});

/** Replays the postings by addition only: no balance is ever below zero or different from the stored one. */
async function expectFunded(database: Database): Promise<void> {
  const { rows: postings } = await sql<PostingRow>`
    select account_id, unit, bucket_id, credit, amount, entry_number, balance_after from postings
      where bucket_id is not null order by account_id, number`.execute(database);
  const balances = new Map<string, { posted: bigint; entry_count: bigint }>();
  const funded = new Map<string, bigint>();
  for (const { bucket_id: bucketId, ...posting } of postings) {
    const change = posting.credit === bucketId ? posting.amount : -posting.amount;
    const { posted, entry_count: entryCount } = balances.get(bucketId) ?? { posted: 0n, entry_count: 0n };
    const after = { posted: posted + change, entry_count: entryCount + 1n };
    expect(after).toEqual({ posted: posting.balance_after, entry_count: posting.entry_number });
    expect(after.posted).toBeGreaterThanOrEqual(0n);
    balances.set(bucketId, after);
    const purse = `${posting.account_id} ${posting.unit}`;
    funded.set(purse, (funded.get(purse) ?? 0n) + change);
    expect(funded.get(purse)).toBeGreaterThanOrEqual(0n);
  }
  const { rows: buckets } = await sql<{ id: string; posted: bigint; entry_count: bigint }>`
    select id, posted, entry_count from buckets`.execute(database);
  expect(new Map(buckets.map(({ id, ...bucket }) => [id, bucket]))).toEqual(balances);
}

type PostingRow = {
  account_id: string;
  unit: string;
  bucket_id: string;
  credit: string;
  amount: bigint;
  entry_number: bigint;
  balance_after: bigint;
};
