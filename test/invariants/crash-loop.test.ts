import { sql } from "kysely";
import pg from "pg";
import { expect, test } from "vitest";
import { type CommitPoint, commitPoints } from "../../src/features/ledger/decide-within.ts";
import type { Operation, Result } from "../../src/features/ledger/operation.ts";
import { findViolations } from "../../src/features/ledger/verify-ledger.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createDatabase, type Database, pingDatabase } from "../../src/platform/database/database.ts";
import { getClusterPaths } from "../../src/platform/database/embedded/cluster-directory.ts";
import { openEmbeddedPostgres } from "../../src/platform/database/embedded/embedded-postgres.ts";
import { findPostmaster } from "../../src/platform/database/embedded/postmaster.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { createDataDirectory } from "../harness/gateway-process.ts";
import { checkJournal, checkTotals, type Intent } from "../harness/ledger/check-ledger-journal.ts";
import { createLedgerLoad, createRandom, type Random } from "../harness/ledger/ledger-load.ts";
import {
  createAccounts,
  createBill,
  createNotes,
  type LedgerProcess,
  OutcomeUnknown,
  startLedgerProcess,
} from "../harness/ledger/ledger-process.ts";
import { presentSocketUrl } from "../harness/test-database.ts";
import { testSeed } from "../harness/test-seed.ts";
import { waitUntil } from "../harness/wait-until.ts";

const timeoutMs = 180_000;
const cyclesMin = Number(process.env.CRASH_CYCLES ?? 0);
const patienceMs = 60_000;
/** The embedded server gives up after more restarts than this. */
const stopsMax = 5;
/** So few callers use one process only, and send calls only: it then decides from memory, and never locks. */
const callersOfOne = 4;
const callersMany = 32;

type Cycle = { victim: "ledger" | "backend" | "postmaster"; point: CommitPoint | "any moment"; callers: number };

/** Every failpoint once with the death of the ledger and once with that of its database, and some random moments. */
function planCycles(random: Random): Cycle[] {
  const planned = commitPoints.flatMap((point, index): Cycle[] => [
    { victim: "ledger", point, callers: chooseCallers(point) },
    { victim: index % 2 === 0 ? "backend" : "postmaster", point, callers: chooseCallers(point) },
  ]);
  // Decisions from memory are as durable as others, however soon after its answer the server dies.
  planned.push({ victim: "backend", point: "committed", callers: callersOfOne });
  planned.push({ victim: "postmaster", point: "answered", callers: callersOfOne });
  planned.push({ victim: "ledger", point: "any moment", callers: callersMany });
  planned.push({ victim: "backend", point: "any moment", callers: callersMany });
  while (planned.length < cyclesMin) {
    const victim = random.pick(["ledger", "ledger", "backend", "postmaster"] as const) ?? "ledger";
    const point = random.pick([...commitPoints, "any moment", "any moment"] as const) ?? "any moment";
    planned.push({ victim, point, callers: chooseCallers(point) });
  }
  return planned;
}

/** A single ledger seldom locks, and one of several seldom does anything else. */
function chooseCallers(point: Cycle["point"]): number {
  return point === "loaded" || point === "decided" ? callersOfOne : callersMany;
}

test("no acknowledged change is lost and none happens twice, whatever dies at whatever moment", {
  timeout: timeoutMs + cyclesMin * 10_000,
}, async () => {
  const random = createRandom(testSeed);
  const cycles = planCycles(random);
  await using place = await openDurablePlace();
  await using run = await startRun(place, random);
  const findings = { lost: [] as string[], doubled: [] as string[] };
  async function check(part: readonly Intent[]): Promise<void> {
    const { journal } = run;
    const totals = await checkTotals(place.database, journal);
    for (const found of [await checkJournal(place.database, journal, part), totals]) {
      findings.lost.push(...found.lost);
      findings.doubled.push(...found.doubled);
    }
    expect(findings).toEqual({ lost: [], doubled: [] });
    const scope = { kind: "whole", accountIds: "all", now: new Date() } as const;
    expect(await findViolations(place.database, scope)).toEqual([]);
  }

  let survived = 0;
  try {
    for (const cycle of cycles) {
      const begun = run.journal.length;
      await run.crash(cycle);
      await run.resend();
      await check(run.journal.slice(begun));
      await run.askAgain();
      survived += 1;
    }
    await run.endAll();
    await check(run.journal);
    const { rows } = await sql`select id from holds where state = 'open'`.execute(place.database);
    expect(rows).toEqual([]);
  } finally {
    const { kills, crashes, resent } = run.counts;
    const acknowledged = run.journal.filter(({ result }) => result !== null).length;
    console.log(
      `crash loop: ${survived} cycles, ${run.journal.length} operations, ${kills} kills of the ledger, ` +
        `${crashes} crashes of PostgreSQL, ${acknowledged} acknowledged, ${resent} resent, ` +
        `${findings.lost.length} lost, ${findings.doubled.length} doubled, ` +
        `points hit: ${[...run.hits].map(([point, victims]) => `${point} (${[...victims].join(", ")})`).join(", ")}; seed ${testSeed}`,
    );
  }
  // Read from the list itself: the ledger and its database must survive a new failpoint too.
  for (const point of commitPoints) expect(run.hits.get(point)?.size, point).toBeGreaterThan(1);
});

type Place = AsyncDisposable & {
  url: string;
  database: Database;
  accountIds: AccountId[];
  findPostmasterId(): number;
  /** A connection whose end shows that the server crashed, and whose own backend can be the victim. */
  openSentinel(): Promise<{ processId: number; hasEnded(): boolean; close(): Promise<void> }>;
  /** Waits for the server to be back after a crash. */
  recover(): Promise<void>;
};

/** A PostgreSQL that writes through to the disk, as in production. */
async function openDurablePlace(): Promise<Place> {
  const data = createDataDirectory();
  const open = () =>
    openEmbeddedPostgres({
      dataDir: data.path,
      purpose: "gateway",
      onProgress: () => {},
      onLost: (error) => console.error("The database of the crash loop is lost.", error),
    });
  let server = await open();
  let postmasterIds = new Set<number>();
  if (!("host" in server.address)) throw new Error("The server has no socket.");
  const address = { ...server.address, database: "postgres" };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  await migrate(address);
  await createNotes(database);
  const { rows } = await sql`
    select current_setting('fsync') || current_setting('synchronous_commit') as durability`.execute(database);
  expect(rows).toEqual([{ durability: "onon" }]);
  const isUp = (): Promise<boolean> =>
    pingDatabase(database).then(
      () => true,
      () => false,
    );
  const findPostmasterId = (): number => findPostmaster(getClusterPaths(data.path).clusterDir)?.processId ?? 0;

  return {
    url: presentSocketUrl(address, address.database),
    database,
    accountIds: await createAccounts(database, ["a", "b", "c", "d", "e", "f"]),
    findPostmasterId,
    async openSentinel() {
      const client = new pg.Client(address);
      let hasEnded = false;
      client
        .on("error", () => {})
        .once("end", () => {
          hasEnded = true;
        });
      await client.connect();
      const { rows } = await client.query("select pg_backend_pid() as process_id");
      return { processId: rows[0].process_id, hasEnded: () => hasEnded, close: () => client.end() };
    },
    async recover() {
      await waitUntil("the database is back", isUp, patienceMs);
      postmasterIds.add(findPostmasterId());
      if (postmasterIds.size < stopsMax) return;
      await server.close();
      server = await open();
      postmasterIds = new Set([findPostmasterId()]);
    },
    async [Symbol.asyncDispose]() {
      await database.destroy();
      await server.close();
      data[Symbol.dispose]();
    },
  };
}

type Run = AsyncDisposable & {
  journal: Intent[];
  counts: { kills: number; crashes: number; resent: number };
  hits: Map<CommitPoint, Set<Cycle["victim"]>>;
  /** Lets callers work until the victim is dead, and every call that can be answered is. */
  crash(cycle: Cycle): Promise<void>;
  /** Resends every unanswered operation, with the same ids, until it is answered. */
  resend(): Promise<void>;
  /** Repeats some answered operations, and expects the same answers. */
  askAgain(): Promise<void>;
  /** Ends every open hold. */
  endAll(): Promise<void>;
};

async function startRun(place: Place, random: Random): Promise<Run> {
  const load = createLedgerLoad(random, place.accountIds);
  const journal: Intent[] = [];
  const counts = { kills: 0, crashes: 0, resent: 0 };
  const hits: Run["hits"] = new Map();
  const surprises: unknown[] = [];
  let ledgers = [await startLedgerProcess(place), await startLedgerProcess(place)] as const;
  let answered = 0;

  function chooseWay({ kind }: Operation): Intent["way"] {
    const isCall = ["hold", "settle", "release"].includes(kind);
    if (!isCall || random.below(4) > 0) return "group";
    return random.below(3) === 0 ? "rollback" : "within";
  }

  function writeDown(operation: Operation, way = chooseWay(operation)): Intent {
    const intent: Intent = { operation, way, note: `note ${journal.length}`, result: null };
    journal.push(intent);
    return intent;
  }

  /** Whether it was answered. */
  async function attempt(intent: Intent, ledger: LedgerProcess): Promise<boolean> {
    try {
      intent.result = await send(intent, ledger);
      answered += 1;
      if (intent.way !== "rollback") load.learn(intent.operation, intent.result);
      return true;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) surprises.push(error);
      return false;
    }
  }

  async function call(ledger: LedgerProcess, isAlone: boolean, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const operations = load.choose(new Date(), isAlone ? "calls" : "everything");
      const intents = operations.map((operation) => writeDown(operation, isAlone ? "group" : chooseWay(operation)));
      const answers = await Promise.all(intents.map((intent) => attempt(intent, ledger)));
      if (answers.includes(false)) return;
    }
  }

  async function replaceDead(): Promise<void> {
    const [victim, other] = ledgers;
    ledgers = [
      victim.isAlive() ? victim : await startLedgerProcess(place),
      other.isAlive() ? other : await startLedgerProcess(place),
    ];
  }

  const pickLedger = (): LedgerProcess => ledgers[random.below(2) === 0 ? 0 : 1];

  /** Retries until every operation is answered. */
  async function insist(intents: readonly Intent[]): Promise<void> {
    const attempts = intents.map((intent) =>
      waitUntil("an answer", async () => (await attempt(intent, pickLedger())) || surprises.length > 0, patienceMs),
    );
    await Promise.all(attempts);
    expect(surprises).toEqual([]);
  }

  const funding = place.accountIds.map((accountId, index): Operation => {
    const cause = { kind: "operator", id: "test" } as const;
    return { kind: "top-up", id: `txn_start${index}`, accountId, amount: nano(2000n), channel: "test", cause };
  });
  await insist(funding.map((operation) => writeDown(operation)));

  return {
    journal,
    counts,
    hits,
    async crash({ victim, point, callers }) {
      await replaceDead();
      const [ledger, other] = ledgers;
      const sentinel = await place.openSentinel();
      const target = {
        ledger: "self" as const,
        backend: { processId: sentinel.processId, signal: "SIGKILL" as const },
        postmaster: { processId: place.findPostmasterId(), signal: "SIGQUIT" as const },
      }[victim];
      const isDown = (): boolean => (victim === "ledger" ? !ledger.isAlive() : sentinel.hasEnded());
      if (point !== "any moment") {
        const isRare = point === "loaded" || point === "decided";
        const after = 1 + random.below(isRare ? 2 : 20);
        await ledger.arm({ point, after, victim: target });
      }
      const isAlone = callers === callersOfOne;
      const answeredBefore = answered;
      let isOver = false;
      const calling = Array.from({ length: callers }, (_, index) =>
        call(isAlone || index % 2 === 0 ? ledger : other, isAlone, () => isOver),
      );
      if (point === "any moment") {
        const moment = answeredBefore + 50 + random.below(300);
        await waitUntil("some answers", () => answered >= moment || surprises.length > 0, patienceMs);
        if (target !== "self") process.kill(target.processId, target.signal);
        else for (const one of random.below(2) === 0 ? ledgers : [ledger]) one.kill();
      }
      await waitUntil(`the end of the ${victim} at ${point}`, () => isDown() || surprises.length > 0, patienceMs);
      isOver = true;
      await Promise.all(calling);
      expect(surprises).toEqual([]);
      if (point !== "any moment" && ledger.hasHit()) hits.set(point, (hits.get(point) ?? new Set()).add(victim));
      await place.recover();
      const dead = ledgers.filter((one) => !one.isAlive()).length;
      if (victim === "ledger") {
        counts.kills += dead;
        await sentinel.close();
      } else {
        counts.crashes += 1;
        // A ledger outlives its database.
        expect(dead).toBe(0);
      }
    },
    async resend() {
      await replaceDead();
      const unanswered = journal.filter(({ result, way }) => result === null && way !== "rollback");
      counts.resent += unanswered.length;
      await insist(unanswered);
    },
    async askAgain() {
      const lately = journal.slice(-100).filter(isRepeatable);
      for (const { operation, result } of lately.slice(-20)) {
        const again = await pickLedger().apply(operation);
        expect(again).toMatchObject({ kind: result?.kind, isReplay: true });
        if (result?.kind === "settled") expect(again).toEqual({ ...result, isReplay: true });
      }
    },
    async endAll() {
      const { rows } = await sql<{ id: `hold_${string}`; account_id: AccountId; amount: bigint }>`
        select id, account_id, amount from holds where state = 'open'`.execute(place.database);
      const endings = rows.map(({ id: holdId, account_id: accountId, amount }, index): Operation => {
        if (index % 2 === 0) return { kind: "release", holdId, accountId };
        const bill = createBill(amount / 2n, amount / 2n);
        return { kind: "settle", holdId, accountId, bill, overrun: "refuse", budgetAmount: null };
      });
      await insist(endings.map((operation) => writeDown(operation, "group")));
    },
    async [Symbol.asyncDispose]() {
      for (const ledger of ledgers) await ledger[Symbol.asyncDispose]();
    },
  };
}

async function send({ operation, way, note }: Intent, ledger: LedgerProcess): Promise<Result> {
  if (way === "group") return await ledger.apply(operation);
  const ending = way === "rollback" ? "rollback" : "commit";
  const [result] = await ledger.applyWithin([operation], { note, ending });
  if (result === undefined) throw new Error("An operation was not answered.");
  return result;
}

/** Whether this answer's effect is durable, so that a repetition gets the same answer. */
function isRepeatable({ operation, result, way }: Intent): boolean {
  if (way === "rollback" || result === null || !("isReplay" in result)) return false;
  return result.kind !== "refused" || operation.kind === "hold";
}
