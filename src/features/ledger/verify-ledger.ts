import type { Database } from "../../platform/database/database.ts";
import { listChangedAccounts, readCheckProgress, readLedgerEnd, updateCheckProgress } from "./check-progress-store.ts";
import type { Scope } from "./check-scope-store.ts";
import { freezeWallet, listAsked, listViolations, type Violation } from "./invariant-store.ts";

/** Checks the invariants without changing anything. */
export async function findViolations(
  database: Database,
  { now, ...scope }: Scope & { now: Date },
): Promise<Violation[]> {
  const asked = listAsked(scope.kind);
  // One statement shares the reads of all invariants. A whole scope would need too much memory, so check one by one.
  if (scope.kind !== "whole") return await listViolations(database, asked, { scope, now });
  const found: Violation[] = [];
  for (const invariant of asked) found.push(...(await listViolations(database, [invariant], { scope, now })));
  return found;
}

/**
 * Checks the invariants and freezes violating accounts: they cannot spend until an operator has looked. Never repairs
 * anything.
 */
export async function checkAccounts(database: Database, scope: Scope & { now: Date }): Promise<CheckOutcome> {
  const violations = await findViolations(database, scope);
  return { violations, frozen: await freezeViolated(database, violations) };
}

export type CheckOutcome = { violations: Violation[]; frozen: string[] };

async function freezeViolated(database: Database, violations: readonly Violation[]): Promise<string[]> {
  const frozen: string[] = [];
  for (const [accountId, found] of Map.groupBy(violations, (violation) => violation.accountId)) {
    const reason = found.map(({ invariant, message }) => `${invariant}: ${message}`).join("; ");
    if (await freezeWallet(database, accountId, reason.slice(0, reasonCharactersMax))) frozen.push(accountId);
  }
  return frozen;
}

const reasonCharactersMax = 1000;

/** Changes are stamped before they commit; no commit takes longer than this. */
const overlapMs = 2 * 60 * 1000;

/**
 * Checks the accounts that changed since any gateway's last check. Earlier entries were checked before, and each entry
 * carries the balance before it.
 */
export async function checkChangedAccounts(database: Database, now: Date): Promise<CheckOutcome> {
  const progress = await readCheckProgress(database);
  const end = await readLedgerEnd(database);
  const accountIds = await listChangedAccounts(database, new Date(progress.checkedAt.getTime() - overlapMs));
  const scope = { kind: "recent", accountIds, afterNumber: progress.previousNumber } as const;
  const outcome = accountIds.length === 0 ? nothingFound : await checkAccounts(database, { ...scope, now });
  // Last, so a killed check is repeated.
  const { checkedNumber: previousNumber } = progress;
  await updateCheckProgress(database, { checkedAt: end.at, checkedNumber: end.number, previousNumber });
  return outcome;
}

const nothingFound: CheckOutcome = { violations: [], frozen: [] };
