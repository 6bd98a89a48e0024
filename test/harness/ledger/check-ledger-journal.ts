import { sql } from "kysely";
import type { Operation, Result } from "../../../src/features/ledger/operation.ts";
import type { Database } from "../../../src/platform/database/database.ts";

/** A caller's operation, recorded before it was sent, and its answer if there was one. */
export type Intent = {
  operation: Operation;
  way: "group" | "within" | "rollback";
  /** The note that its transaction writes, if it has one. */
  note: string;
  result: Result | null;
};

/** Sentences about acknowledged changes that are missing, and about changes that happened more than once. */
type Findings = { lost: string[]; doubled: string[] };

type HoldRow = { id: string; account_id: string; unit: string; amount: bigint; state: string; settled: bigint };
type PostedRow = { id: string; account_id: string; total: bigint; lost: bigint };
type Rows = { holds: Map<string, HoldRow>; posted: Map<string, PostedRow>; notes: Set<string> };

/** Compares a fully answered part of a journal with the database. */
export async function checkJournal(
  database: Database,
  journal: readonly Intent[],
  part: readonly Intent[] = journal,
): Promise<Findings> {
  const rows = await loadRows(database, part);
  const sentIds = listIds(journal.filter(({ way }) => way !== "rollback"));
  const bookedIds = listIds(journal.filter(({ result }) => result?.kind === "booked"));
  const findings: Findings = { lost: [], doubled: [] };
  for (const intent of part) {
    const { operation, way, note, result } = intent;
    if (way === "rollback") {
      const isThere = operation.kind === "hold" && rows.holds.has(operation.id) && !sentIds.has(operation.id);
      if (isThere || rows.notes.has(note)) findings.doubled.push(`${describe(intent)}: there, though it was undone`);
      continue;
    }
    const isBooked = "id" in operation && rows.posted.has(operation.id);
    if (isBooked && !bookedIds.has(operation.id)) findings.doubled.push(`${describe(intent)}: booked all the same`);
    const complaint = result === null ? "was never answered" : explainLoss(operation, result, rows);
    if (complaint !== null) findings.lost.push(`${describe(intent)}: ${complaint}`);
    if (way === "within" && !rows.notes.has(note)) findings.lost.push(`${describe(intent)}: no note`);
    const total = ("id" in operation && rows.posted.get(operation.id)?.total) || 0n;
    if (result?.kind === "booked" && "amount" in operation && total > magnitude(operation.amount))
      findings.doubled.push(`${describe(intent)}: ${total} is booked`);
  }
  return findings;
}

/** Whether the accounts' totals match all answers: a lost or doubled effect would be missing or extra. */
export async function checkTotals(database: Database, journal: readonly Intent[]): Promise<Findings> {
  const findings: Findings = { lost: [], doubled: [] };
  const said = sumEffects(journal);
  const { rows } = await sql<{ purse: string; has: bigint }>`
    select account_id || ' ' || unit as purse, sum(has)::bigint as has
      from (select account_id, unit, posted as has from buckets
        -- The process that expired a bucket may have died before it answered.
        union all select account_id, unit, amount from postings where kind = 'expiry') sides
      group by 1`.execute(database);
  for (const { purse, has } of rows) {
    const expected = said.get(purse) ?? 0n;
    const sentence = `${purse}: ${has}, all answers together say ${expected}`;
    // Less money in, or fewer charges, than acknowledged: either way something is wrong.
    if (has < expected) findings.lost.push(sentence);
    if (has > expected) findings.doubled.push(sentence);
  }
  return findings;
}

/** The expected totals of each account and unit, by the answers: every id counts once, however often it was sent. */
function sumEffects(journal: readonly Intent[]): Map<string, bigint> {
  const effects = new Map<string, { purse: string; change: bigint }>();
  const units = new Map<string, string>();
  for (const { operation, result, way } of journal) {
    if (way === "rollback" || operation.kind !== "settle" || result?.kind !== "settled") continue;
    const id = `txn_${operation.holdId.slice("hold_".length)}`;
    units.set(id, result.unit);
    effects.set(id, { purse: `${operation.accountId} ${result.unit}`, change: -result.paid });
  }
  for (const { operation, result } of journal) {
    if (result?.kind !== "booked" || !("id" in operation)) continue;
    const unit =
      operation.kind === "refund"
        ? units.get(operation.chargeId)
        : operation.kind === "grant"
          ? operation.unit
          : "money";
    effects.set(operation.id, { purse: `${operation.accountId} ${unit}`, change: operation.amount });
  }
  const sums = new Map<string, bigint>();
  for (const { purse, change } of effects.values()) sums.set(purse, (sums.get(purse) ?? 0n) + change);
  return sums;
}

async function loadRows(database: Database, journal: readonly Intent[]): Promise<Rows> {
  const holdIds = journal.map(({ operation }) =>
    "holdId" in operation ? operation.holdId : operation.kind === "hold" ? operation.id : "",
  );
  const transactionIds = journal.flatMap(({ operation }) => {
    if ("holdId" in operation) return [`txn_${operation.holdId.slice("hold_".length)}`];
    return "id" in operation ? [operation.id] : [];
  });
  const holds = await sql<HoldRow>`
    select id, account_id, unit, amount, state, settled from holds where id = any(${holdIds})`.execute(database);
  const posted = await sql<PostedRow>`
    select id, account_id, coalesce(sum(amount) filter (where kind <> 'loss'), 0)::bigint as total,
        coalesce(sum(amount) filter (where kind = 'loss'), 0)::bigint as lost
      from postings where id = any(${transactionIds}) group by id, account_id`.execute(database);
  const notes = await sql<{ id: string }>`select id from notes`.execute(database);
  return {
    holds: new Map(holds.rows.map((row) => [row.id, row])),
    posted: new Map(posted.rows.map((row) => [row.id, row])),
    notes: new Set(notes.rows.map(({ id }) => id)),
  };
}

/** `null` when the database agrees with an answer. */
function explainLoss(operation: Operation, result: Result, { holds, posted }: Rows): string | null {
  const holdId = "holdId" in operation ? operation.holdId : operation.kind === "hold" ? operation.id : "";
  const hold = holds.get(holdId);
  const postedOfHold = posted.get(`txn_${holdId.slice("hold_".length)}`);
  const booked = "id" in operation ? posted.get(operation.id) : undefined;
  switch (result.kind) {
    case "held":
      if (hold === undefined || hold.state === "refused") return `the hold is ${hold?.state ?? "missing"}`;
      return hold.account_id === operation.accountId && hold.unit === result.unit ? null : "it is another hold";
    case "extended":
      return hold !== undefined && hold.amount >= result.amount ? null : `the hold is of ${hold?.amount}`;
    case "settled": {
      if (hold?.state !== "settled" || hold.settled !== result.paid) return `${hold?.state}, ${hold?.settled} paid`;
      const { total = 0n, lost = 0n } = postedOfHold ?? {};
      return total === result.paid && lost === result.lost ? null : `${total} paid and ${lost} lost`;
    }
    case "released":
      return hold?.state === "released" ? null : `the hold is ${hold?.state ?? "missing"}`;
    case "expired":
      return operation.kind === "expire-bucket" || hold?.state === "expired" ? null : `the hold is ${hold?.state}`;
    case "already-resolved":
      return hold?.state === result.state ? null : `the hold is ${hold?.state}`;
    case "booked": {
      if (booked === undefined || booked.account_id !== operation.accountId) return "it is not booked";
      const asked = "amount" in operation ? magnitude(operation.amount) : 0n;
      return booked.total >= asked ? null : `${booked.total} is booked`;
    }
    case "refused":
      if (operation.kind === "hold")
        return hold?.state === "refused" ? null : `the hold is ${hold?.state ?? "missing"}`;
      return null;
    case "id-reused":
      return hold !== undefined || booked !== undefined ? null : "nothing has this id";
    case "no-such-hold":
      return hold?.account_id === operation.accountId ? "the hold is there" : null;
    case "no-such-account":
    case "no-such-bucket":
      return "it is there";
    // These leave no trace, and a later request may have succeeded.
    case "too-large":
    case "no-such-charge":
    case "over-charge":
    case "already-expired":
    case "over-hold":
    case "not-due":
    case "contended":
      return null;
  }
}

function listIds(intents: readonly Intent[]): Set<string> {
  return new Set(intents.flatMap(({ operation }) => ("id" in operation ? [operation.id] : [])));
}

function describe({ operation, way, result }: Intent): string {
  const name = "holdId" in operation ? operation.holdId : "id" in operation ? operation.id : operation.bucketId;
  return `${operation.kind} ${name} of ${operation.accountId} (${way}), answered ${result?.kind ?? "not at all"}`;
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
