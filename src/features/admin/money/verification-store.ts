import { sql } from "kysely";
import { invariant } from "../../../lib/invariant.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Violation } from "../../ledger/index.ts";

export const verificationScopes = ["new", "whole"] as const;
export type VerificationScope = (typeof verificationScopes)[number];
export const verificationStates = ["waiting", "running", "passed", "failed"] as const;
type VerificationState = (typeof verificationStates)[number];

/** A check of the ledger that an operator asked for. `whole` reads all entries, `new` those since the last check. */
export type Verification = {
  id: `ver_${string}`;
  scope: VerificationScope;
  state: VerificationState;
  askedBy: string;
  askedAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  accounts: bigint | null;
  entries: bigint | null;
  holds: bigint | null;
  violationCount: number;
  /** The first of them. */
  violations: readonly Violation[];
};

type NewVerification = Pick<Verification, "id" | "scope" | "askedBy" | "askedAt">;

/** `false` if one is waiting or running. */
export async function insertVerification(
  tx: Database,
  { id, scope, askedBy, askedAt }: NewVerification,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into ledger_verifications (id, scope, state, asked_by, asked_at)
      values (${id}, ${scope}, 'waiting', ${askedBy}, ${askedAt})
      on conflict ((true)) where state in ('waiting', 'running') do nothing`.execute(tx);
  return numAffectedRows === 1n;
}

export async function getVerification(database: Database, id: string): Promise<Verification> {
  const { rows } = await sql<VerificationRow>`select * from ledger_verifications where id = ${id}`.execute(database);
  const [row] = rows;
  invariant(row !== undefined, "verifications are never deleted");
  return toVerification(row);
}

/** Starts the one that waits, or starts an interrupted one again. */
export async function startOpenVerification(database: Database, now: Date): Promise<Verification | null> {
  const { rows } = await sql<VerificationRow>`
    update ledger_verifications set state = 'running', started_at = ${now} where state in ('waiting', 'running')
      returning *`.execute(database);
  return rows[0] === undefined ? null : toVerification(rows[0]);
}

type VerificationEnd = Pick<Verification, "accounts" | "entries" | "holds" | "violationCount" | "violations"> & {
  endedAt: Date;
};

export async function endVerification(database: Database, id: string, end: VerificationEnd): Promise<void> {
  await sql`
    update ledger_verifications set state = ${end.violationCount === 0 ? "passed" : "failed"}, ended_at = ${end.endedAt},
        accounts = ${end.accounts}, entries = ${end.entries}, holds = ${end.holds},
        violation_count = ${end.violationCount}, violations = ${JSON.stringify(end.violations)}::jsonb
      where id = ${id} and state = 'running'`.execute(database);
}

/** Newest first. */
export async function listVerifications(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<Verification[]> {
  const { rows } = await sql<VerificationRow>`
    select * from ledger_verifications where ${after}::text is null or id < ${after} order by id desc limit ${limit}`.execute(
    database,
  );
  return rows.map(toVerification);
}

type VerificationRow = {
  id: Verification["id"];
  scope: VerificationScope;
  state: VerificationState;
  asked_by: string;
  asked_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  accounts: bigint | null;
  entries: bigint | null;
  holds: bigint | null;
  violation_count: number;
  violations: Violation[];
};

function toVerification(row: VerificationRow): Verification {
  return {
    ...{ id: row.id, scope: row.scope, state: row.state, askedBy: row.asked_by, askedAt: row.asked_at },
    ...{ startedAt: row.started_at, endedAt: row.ended_at },
    ...{ accounts: row.accounts, entries: row.entries, holds: row.holds },
    ...{ violationCount: row.violation_count, violations: row.violations },
  };
}
