import { CompiledQuery, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { presentTexts } from "../../platform/database/row-arrays.ts";
import type { Session, Statement, StatementValue } from "../../platform/database/session.ts";
import type { EndedClaim } from "../idempotency/index.ts";
import type { Changes } from "./draft.ts";
import {
  type LoadedRow,
  type Others,
  type OthersRow,
  presentChanges,
  toOthers,
  toState,
  writtenRowTypes,
} from "./ledger-rows.ts";
import type { LedgerState } from "./ledger-state.ts";
import type { Needs } from "./list-needs.ts";
import type { IdleReserve } from "./reserves.ts";

/** Runs one statement: in a session of its own, or inside somebody's transaction. */
type Run = <Row>(statement: Statement, values: StatementValue[]) => Promise<Row[]>;

export function runInSession(session: Session): Run {
  return (statement, values) => session.query(statement, values);
}

export function runWithin(tx: Database): Run {
  return async <Row>({ text }: Statement, values: StatementValue[]) =>
    (await tx.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}

/** Locks wallets in the order of their ids, as everybody does, until the transaction ends. */
export async function lockWallets(tx: Database, accountIds: readonly AccountId[]): Promise<void> {
  await sql`select 1 from wallets where account_id = any(${accountIds}) order by account_id for update`.execute(tx);
}

const loadStatement = {
  name: "ledger-load",
  text: `select found_wallets as wallets, found_buckets as buckets, found_holds as holds, found_postings as postings,
    found_spending as spending from ledger_load($1, $2, $3, $4, $5, $6)`,
};

/** Loads what operations ask about, all of it as it is at one moment. */
export async function loadState(run: Run, needs: Needs): Promise<LedgerState> {
  const [loaded] = await run<LoadedRow>(loadStatement, [
    presentTexts(needs.accountIds),
    presentTexts(needs.bucketIds),
    presentTexts(needs.holdIds),
    presentTexts(needs.transactionIds),
    presentTexts(needs.spending.map(({ keyId }) => keyId)),
    presentTexts(needs.spending.map(({ startsAt }) => startsAt.toISOString())),
  ]);
  invariant(loaded !== undefined, "the database tells no state");
  return toState(loaded, needs);
}

const writtenRows = writtenRowTypes.map(({ name }, index) => `$${index + 2}::text::${name}[]`);
const writeStatement = { name: "ledger-commit", text: `select ledger_commit($1, ${writtenRows.join()}) as others` };

/**
 * Writes changes, and the ends of claims with them. Answers what they were added to where other processes had written
 * since the state that they were decided on; `null` where none had. Throws, and nothing is written, where they are no
 * longer right.
 */
export async function writeChanges(
  run: Run,
  changes: Changes,
  { state, endedClaims }: { state: LedgerState; endedClaims: readonly EndedClaim[] },
): Promise<Others | null> {
  const [answer] = await run<{ others: OthersRow | null }>(writeStatement, presentChanges(changes, state, endedClaims));
  invariant(answer !== undefined, "the database tells no end of a write");
  return answer.others === null ? null : toOthers(answer.others);
}

/** Others may hold the money from now on. It needs no new version: processes that still remember the reserve leave it. */
export async function endReserve(database: Database, { accountId, owner }: IdleReserve): Promise<void> {
  await database
    .updateTable("wallets")
    .set({ reserved: 0n })
    .where("account_id", "=", accountId)
    .where("reserved_by", "=", owner)
    .execute();
}

/** Whether changes were not written, because others had changed what they were decided on. */
export function isOutdated(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SL001";
}
