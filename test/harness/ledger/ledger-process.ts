// A ledger in a separate process, started by `startLedgerProcess`: it runs the operations that it receives, several at
// a time, and can kill itself or its database at a failpoint of a commit.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { openHold, releaseHold, settleHold } from "../../../src/features/ledger/apply-within.ts";
import { createLedger } from "../../../src/features/ledger/create-ledger.ts";
import { type CommitPoint, decideWithin } from "../../../src/features/ledger/decide-within.ts";
import type { Operation, Result, ResultOf } from "../../../src/features/ledger/operation.ts";
import type { Bill } from "../../../src/lib/bill.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import { createSemaphore } from "../../../src/lib/semaphore.ts";
import { createDatabase, type Database, isDatabaseUnavailable } from "../../../src/platform/database/database.ts";
import { AppError } from "../../../src/platform/errors/app-error.ts";

/** What dies when a commit reaches a failpoint for the n-th time from now: the process itself, or a database process. */
type Crash = {
  point: CommitPoint;
  after: number;
  victim: "self" | { processId: number; signal: "SIGKILL" | "SIGQUIT" };
};

/** The caller's own row of a transaction: the note exists if and only if the operations do. */
type Surroundings = { note: string; ending: "commit" | "rollback" };

export type LedgerProcess = AsyncDisposable & {
  /** Commits in a group with other running operations. */
  apply<O extends Operation>(operation: O): Promise<ResultOf<O>>;
  /** Decides inside a transaction that also writes a note. A rolled back operation is answered as well. */
  applyWithin(operations: readonly Operation[], surroundings: Surroundings): Promise<Result[]>;
  /** Sets the process's clock. */
  setTime(now: Date): Promise<void>;
  arm(crash: Crash): Promise<void>;
  /** Whether the armed failpoint was reached since it was armed. */
  hasHit(): boolean;
  kill(): void;
  isAlive(): boolean;
};

/** The outcome is unknown: the process died before it answered, or lost the database. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

type Command =
  | { kind: "apply"; operation: Operation }
  | { kind: "apply-within"; operations: readonly Operation[]; surroundings: Surroundings }
  | { kind: "set-time"; now: Date }
  | { kind: "arm"; crash: Crash };

type Message =
  | { kind: "ready" }
  | { kind: "hit" }
  | { kind: "answer"; number: number; answer: unknown }
  | { kind: "failure"; number: number; message: string; isOutcomeUnknown: boolean };

type Waiting = { resolve(answer: unknown): void; reject(error: Error): void };

const goodbyeMsMax = 30_000;
const connectionsMax = 8;
/** Further transactions wait here: on a slow machine, hundreds at once would exceed the pool's own time limit. */
const transactionsMax = 6;

/** Creates the table of notes for `applyWithin`. */
export async function createNotes(database: Database): Promise<void> {
  await sql`create table notes (id text primary key)`.execute(database);
}

export async function createAccounts(database: Database, names: readonly string[]): Promise<AccountId[]> {
  const accountIds = names.map((name): AccountId => `acct_${name}`);
  for (const id of accountIds) {
    const row = { id, email: `${id}@example.com`, created_at: new Date() };
    await database.insertInto("accounts").values(row).execute();
  }
  return accountIds;
}

/** A bill of one item for an amount of money, or for some units of a quota. */
export function createBill(cost: bigint, quotaUnits = 0n): Bill {
  const items = [{ name: "output_tokens", quantity: cost, rate: nano(1n) }];
  return { priceId: "price_test", items, per: 1n, minimum: nano(0n), quotaUnits };
}

export async function startLedgerProcess({ url }: { url: string }): Promise<LedgerProcess> {
  const child = spawn(process.execPath, [import.meta.filename, url], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, Waiting>();
  let sent = 0;
  let hasHit = false;
  let isAlive = true;
  let tellReady = (): void => {};
  const ready = new Promise<void>((settle) => {
    tellReady = settle;
  });
  // Its last output is read before it counts as exited.
  const exited = new Promise<void>((settle) => child.once("close", () => settle()));
  void exited.then(() => {
    isAlive = false;
    for (const { reject } of waiting.values()) reject(new OutcomeUnknown("The ledger's process ended."));
    waiting.clear();
  });
  // Operations sent to a process that just died have an unknown outcome, like unanswered ones.
  child.stdin.on("error", () => {});

  function receive(message: Message): void {
    if (message.kind === "ready") tellReady();
    else if (message.kind === "hit") hasHit = true;
    else {
      const pending = waiting.get(message.number);
      waiting.delete(message.number);
      if (message.kind === "answer") pending?.resolve(message.answer);
      else if (message.isOutcomeUnknown) pending?.reject(new OutcomeUnknown(message.message));
      else pending?.reject(new Error(message.message));
    }
  }
  createInterface({ input: child.stdout }).on("line", (line) => receive(decode(line)));

  function send(command: Command): Promise<unknown> {
    if (!isAlive) return Promise.reject(new OutcomeUnknown("The ledger's process has ended."));
    sent += 1;
    const number = sent;
    child.stdin.write(`${encode({ number, command })}\n`);
    return new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
  }

  await Promise.race([ready, exited]);
  if (!isAlive) throw new Error("A ledger's process did not start.");
  return {
    apply: async <O extends Operation>(operation: O) => (await send({ kind: "apply", operation })) as ResultOf<O>,
    applyWithin: async (operations, surroundings) =>
      (await send({ kind: "apply-within", operations, surroundings })) as Result[],
    setTime: async (moment) => void (await send({ kind: "set-time", now: moment })),
    async arm(crash) {
      hasHit = false;
      await send({ kind: "arm", crash });
    },
    hasHit: () => hasHit,
    kill: () => void child.kill("SIGKILL"),
    isAlive: () => isAlive,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const force = setTimeout(() => child.kill("SIGKILL"), goodbyeMsMax);
      await exited;
      clearTimeout(force);
    },
  };
}

const bigintPattern = /^-?\d+n$/;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Serializes to one line. Integers and dates become unambiguous strings. */
function encode(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${part}n` : part));
}

function decode<T>(line: string): T {
  return JSON.parse(line, (_, part) => {
    if (typeof part !== "string") return part;
    if (bigintPattern.test(part)) return BigInt(part.slice(0, -1));
    return momentPattern.test(part) ? new Date(part) : part;
  });
}

/** Written synchronously, so that it is sent even if the process is killed next. */
function tell(message: Message): void {
  writeSync(process.stdout.fd, `${encode(message)}\n`);
}

async function serve(url: string): Promise<void> {
  let standing: Date | null = null;
  let crash: Crash | null = null;
  const clock: Clock = { now: () => standing ?? new Date(), monotonicMs: () => performance.now() };
  const address = { connectionString: url };
  const database = createDatabase({ address, connectionsMax, onConnectionError: () => {} });
  const ledger = createLedger({ database, address, clock, onTrouble: () => {}, failpoint });
  const transactions = createSemaphore(transactionsMax);

  function failpoint(point: CommitPoint): void {
    if (crash?.point !== point) return;
    crash.after -= 1;
    if (crash.after > 0) return;
    const { victim } = crash;
    crash = null;
    tell({ kind: "hit" });
    if (victim === "self") process.kill(process.pid, "SIGKILL");
    else process.kill(victim.processId, victim.signal);
  }

  async function answer(command: Command): Promise<unknown> {
    switch (command.kind) {
      case "apply":
        return await ledger.apply(command.operation);
      case "apply-within":
        return await transactions.run(() => applyWithNote(database, command, clock.now()));
      case "set-time":
        standing = command.now;
        return null;
      case "arm":
        crash = command.crash;
        return null;
    }
  }

  const working = new Set<Promise<void>>();
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    const { number, command } = decode<{ number: number; command: Command }>(line);
    const done = answer(command)
      .then((given) => tell({ kind: "answer", number, answer: given }))
      .catch((error: unknown) => tell({ kind: "failure", number, ...explain(error) }))
      .finally(() => working.delete(done));
    working.add(done);
  });
  const ended = new Promise<void>((settle) => input.once("close", settle));
  tell({ kind: "ready" });
  await ended;
  await Promise.all(working);
  await ledger.close();
  await database.destroy();
}

function explain(error: unknown): { message: string; isOutcomeUnknown: boolean } {
  const isGivenUp = error instanceof AppError && error.code === "overloaded";
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, isOutcomeUnknown: isGivenUp || isDatabaseUnavailable(error) };
}

async function applyWithNote(
  database: Database,
  { operations, surroundings }: Extract<Command, { kind: "apply-within" }>,
  now: Date,
): Promise<Result[]> {
  const undo = new Error("Undone on purpose.");
  let results: Result[] = [];
  const transaction = database.transaction().execute(async (tx) => {
    await sql`insert into notes (id) values (${surroundings.note}) on conflict do nothing`.execute(tx);
    results = await decide(tx, operations, now);
    if (surroundings.ending === "rollback") throw undo;
  });
  await transaction.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return results;
}

/** One through the public function; several at once as a batch. */
async function decide(tx: Database, operations: readonly Operation[], now: Date): Promise<Result[]> {
  const [operation] = operations;
  if (operations.length === 1 && operation?.kind === "hold") return [await openHold(tx, operation, now)];
  if (operations.length === 1 && operation?.kind === "settle") return [await settleHold(tx, operation, now)];
  if (operations.length === 1 && operation?.kind === "release") return [await releaseHold(tx, operation, now)];
  return (await decideWithin(tx, operations, { now })).results;
}

if (import.meta.main) await serve(process.argv[2] ?? "");
