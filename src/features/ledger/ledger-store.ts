import { CompiledQuery, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { presentTexts } from "../../platform/database/row-arrays.ts";
import type { Session, Statement, StatementValue } from "../../platform/database/session.ts";
import type { Changes } from "./draft.ts";
import { type LoadedRow, presentChanges, toState, writtenRowTypes } from "./ledger-rows.ts";
import type { LedgerState, Wallet } from "./ledger-state.ts";
import type { Needs } from "./list-needs.ts";

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
  text: `select found_wallets as wallets, found_pockets as pockets, found_holds as holds, found_postings as postings,
    found_spending as spending from ledger_load($1, $2, $3, $4, $5, $6)`,
};

/** Loads what operations ask about, all of it as it is at one moment. */
export async function loadState(run: Run, needs: Needs): Promise<LedgerState> {
  const [loaded] = await run<LoadedRow>(loadStatement, [
    presentTexts(needs.accountIds),
    presentTexts(needs.pocketIds),
    presentTexts(needs.holdIds),
    presentTexts(needs.transactionIds),
    presentTexts(needs.spending.map(({ keyId }) => keyId)),
    presentTexts(needs.spending.map(({ startsAt }) => startsAt.toISOString())),
  ]);
  invariant(loaded !== undefined, "the database tells no state");
  return toState(loaded, needs);
}

const writtenRows = writtenRowTypes.map(({ name }, index) => `$${index + 2}::text::${name}[]`);
const writeStatement = { name: "ledger-write", text: `select ledger_write($1, ${writtenRows.join()}) as is_written` };

/** `false`, and nothing is written, when a wallet is no longer in the state that the changes were decided on. */
export async function writeChanges(
  run: Run,
  changes: Changes,
  wallets: ReadonlyMap<AccountId, Wallet>,
): Promise<boolean> {
  const [answer] = await run<{ is_written: boolean }>(writeStatement, presentChanges(changes, wallets));
  return answer?.is_written === true;
}
