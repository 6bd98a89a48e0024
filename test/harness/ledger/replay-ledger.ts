import { sql } from "kysely";
import type { Hold } from "../../../src/features/ledger/ledger-state.ts";
import { loadState, runWithin } from "../../../src/features/ledger/ledger-store.ts";
import type { Operation, Result } from "../../../src/features/ledger/operation.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { Intent } from "./check-ledger-journal.ts";
import { assertClaim, assertSame } from "./disagreement.ts";
import { compareIds, createLedgerModel, type LedgerPicture, presentLines, presentSpending } from "./ledger-model.ts";

/** An operation that a process received, and its answer. */
export type Sent = Intent & {
  /** The process, by the application name of its connections. */
  process: string;
  /** Its position among all operations that the process received. */
  number: number;
  /** The process's time. */
  now: Date;
  result: Result;
};

/** A change that a batch made to a hold, or a posting that it added. New ones had no amount before. */
type Step = {
  account_id: AccountId;
  version: bigint;
  process: string;
  row_id: string;
  state: string;
  amount: bigint;
  amount_before: bigint | null;
};

/**
 * Makes the database record which batch of which process changed what. A wallet's version is the number of the batch
 * among those of its account, because every change happens under the wallet's lock.
 */
export async function recordSteps(database: Database): Promise<void> {
  await sql`create table steps (number bigint generated always as identity, account_id text not null,
    version bigint not null, process text not null, row_id text not null, state text not null,
    amount bigint not null, amount_before bigint)`.execute(database);
  await sql`create function note_step() returns trigger language plpgsql as $$
    begin
      insert into steps (account_id, version, process, row_id, state, amount, amount_before)
        select new.account_id, wallets.version, current_setting('application_name'), new.id,
            coalesce(row_to_json(new) ->> 'state', 'posted'), new.amount, case tg_op when 'UPDATE' then old.amount end
          from wallets where wallets.account_id = new.account_id;
      return null;
    end $$`.execute(database);
  await sql`create trigger holds_noted after insert or update on holds
    for each row execute function note_step()`.execute(database);
  await sql`create trigger postings_noted after insert on postings
    for each row execute function note_step()`.execute(database);
}

/**
 * Replays the answers of several processes, in the order of the database's commits, on the ledger model: every answer
 * with an effect must equal the model's, every change must have been answered once, and the final tables must match.
 * Throws if they differ; returns the number of operations with effects.
 */
export async function replaySteps(
  database: Database,
  accountIds: readonly AccountId[],
  sent: readonly Sent[],
): Promise<number> {
  const { rows: steps } = await sql<Step>`
    select account_id, version, process, row_id, state, amount, amount_before from steps order by number`.execute(
    database,
  );
  const stepsOfRow = Map.groupBy(steps, ({ row_id: rowId }) => rowId);
  const lasting = sent.filter(({ way }) => way !== "rollback").toSorted((a, b) => a.number - b.number);
  const unexplained = new Set(steps);
  const placed = lasting.flatMap((one) => {
    const found = findSteps(stepsOfRow, one, unexplained);
    for (const step of found) unexplained.delete(step);
    return found[0] === undefined ? [] : [{ ...one, version: found[0].version }];
  });
  assertSame("changes that nobody was answered", [...unexplained], []);
  checkOnce(lasting);
  for (const accountId of accountIds) {
    const inOrder = placed
      .filter(({ operation }) => operation.accountId === accountId)
      .toSorted((a, b) => Number(a.version - b.version) || a.number - b.number);
    const model = createLedgerModel([accountId]);
    for (const { operation, now, version, number, process, result } of inOrder) {
      const what = `number ${number} of process ${process}, a ${operation.kind}, in batch ${version} of ${accountId}`;
      assertSame(`the answer to ${what}`, result, model.apply(operation, now));
    }
    await comparePictures(database, accountId, model.picture());
  }
  return placed.length;
}

/** The changes that an answered operation made: none for a repetition, a refusal, or a no-op. */
function findSteps(
  stepsOfRow: ReadonlyMap<string, Step[]>,
  { operation, process, result }: Sent,
  unexplained: ReadonlySet<Step>,
): Step[] {
  if ("isReplay" in result && result.isReplay) return [];
  const list = (rowId: string, isRight: (step: Step) => boolean = () => true): Step[] =>
    (stepsOfRow.get(rowId) ?? []).filter((step) => step.process === process && isRight(step));
  const find = (rowId: string, isRight?: (step: Step) => boolean): Step[] => {
    const found = list(rowId, isRight);
    assertClaim(found.length > 0, "what was answered is in the tables", `${operation.kind} of ${rowId} by ${process}`);
    return found;
  };
  switch (operation.kind) {
    case "hold":
      if (result.kind !== "held" && result.kind !== "refused") return [];
      return find(operation.id, (step) => step.amount_before === null);
    case "settle": {
      if (result.kind !== "settled") return [];
      const ends = find(operation.holdId, ({ state }) => state === "settled");
      return result.paid + result.lost === 0n ? ends : [...ends, ...find(`txn_${suffixOf(operation.holdId)}`)];
    }
    case "release":
    case "expire-hold":
      if (result.kind !== "released" && result.kind !== "expired") return [];
      return find(operation.holdId, ({ state }) => state === result.kind);
    case "extend": {
      // An extension to less than the held amount, or to what another has raised it to, changes nothing.
      if (result.kind !== "extended") return [];
      const { amount } = result;
      if (amount !== operation.amount && amount !== operation.quotaUnits) return [];
      return list(operation.holdId, (step) => step.amount >= amount && (step.amount_before ?? amount) < amount);
    }
    case "top-up":
    case "grant":
    case "adjust":
    case "refund":
      return result.kind === "booked" ? find(operation.id) : [];
    case "expire-bucket": {
      if (result.kind !== "expired" || !("amount" in result) || result.amount === 0n) return [];
      // A bucket can expire in several parts, each with its own number.
      const prefix = `txn_${suffixOf(operation.bucketId)}.`;
      const rowIds = [...stepsOfRow.keys()].filter((rowId) => rowId.startsWith(prefix));
      const isRight = (step: Step): boolean => step.amount === result.amount && unexplained.has(step);
      const [found] = rowIds.flatMap((rowId) => list(rowId, isRight));
      assertClaim(found !== undefined, "what was answered is in the tables", `expiry of ${operation.bucketId}`);
      return [found];
    }
  }
}

/** Of all answers for one effect, exactly one is new, and the others agree with it. */
function checkOnce(sent: readonly Sent[]): void {
  const named = sent.flatMap(({ operation, result }) =>
    "isReplay" in result ? [{ name: nameEffect(operation, result), result }] : [],
  );
  const answersOf = Map.groupBy(named, ({ name }) => name);
  for (const [name, answers] of answersOf) {
    if (name === null) continue;
    const [first, ...others] = answers.toSorted((a, b) => Number(a.result.isReplay) - Number(b.result.isReplay));
    const firsts = answers.filter(({ result }) => !result.isReplay);
    assertClaim(firsts.length === 1, "what is sent often happens once", `${name} happened ${firsts.length} times`);
    for (const { result } of others)
      assertSame(`the answer to ${name} again`, presentAgain(result), presentAgain(first?.result));
  }
}

/** `null` for operations that leave no trace and may be repeated: a refusal of anything but a hold. */
function nameEffect(operation: Operation, result: Result): string | null {
  if (result.kind === "refused" && operation.kind !== "hold") return null;
  if ("holdId" in operation) return `the end of ${operation.holdId}`;
  return "id" in operation ? operation.id : null;
}

/** A hold that was extended since has its current amount. */
function presentAgain(result: Result | undefined): unknown {
  return result?.kind === "held" ? { kind: result.kind, unit: result.unit } : { ...result, isReplay: null };
}

async function comparePictures(database: Database, accountId: AccountId, told: LedgerPicture): Promise<void> {
  const { rows: postings } = await sql<Record<string, unknown>>`
    select id, leg, kind, unit, debit, credit, amount, bucket_id, entry_number, balance_after, refund_of, created_at
      from postings where account_id = ${accountId} order by number`.execute(database);
  const toldPostings = told.postings.map(({ entry, refundOf, createdAt, cause, accountId: _, ...posting }) => ({
    ...posting,
    bucket_id: entry?.bucketId ?? null,
    entry_number: entry?.number ?? null,
    balance_after: entry?.balanceAfter ?? null,
    refund_of: refundOf,
    created_at: createdAt,
  }));
  for (const [index, posting] of toldPostings.entries())
    assertSame(`posting ${index} of ${accountId}`, postings[index], posting);
  assertSame(`the number of postings of ${accountId}`, postings.length, toldPostings.length);
  const tables = await loadState(runWithin(database), {
    accountIds: [accountId],
    bucketIds: told.buckets.map(({ id }) => id),
    holdIds: told.holds.map(({ id }) => id),
    transactionIds: [],
    spending: [],
  });
  assertSame(`the buckets of ${accountId}`, [...tables.buckets.values()].toSorted(compareIds), told.buckets);
  const holds = [...tables.holds.values()].toSorted(compareIds);
  assertSame(`the holds of ${accountId}`, holds.map(presentHold), told.holds.map(presentHold));
  assertSame(`the budgets of ${accountId}`, presentSpending(tables.spending.values()), told.spending);
}

function presentHold({ id, unit, amount, lines, state, settled, refusal, openedAt, resolvedAt }: PicturedHold) {
  return { id, unit, amount, lines: presentLines(lines), state, settled, refusal, openedAt, resolvedAt };
}

type PicturedHold = Omit<Hold, "fingerprint" | "settlementFingerprint">;

function suffixOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}
