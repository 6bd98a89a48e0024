import type { Database } from "../../platform/database/database.ts";
import {
  findLastPostingNumber,
  freezeWallet,
  invariants,
  listChangedAccounts,
  listViolations,
  type Scope,
  type Violation,
} from "./invariant-store.ts";

/** Looks for what must not be, and changes nothing. */
export async function findViolations(
  database: Database,
  { now, ...scope }: Scope & { now: Date },
): Promise<Violation[]> {
  const asked = invariants.filter(({ isForWholeOnly }) => scope.kind === "whole" || isForWholeOnly !== true);
  const found: Violation[] = [];
  for (const invariant of asked) found.push(...(await listViolations(database, invariant, { scope, now })));
  return found;
}

/** Freezes the accounts in question: nothing more is spent there until a person has looked. Nothing is "repaired". */
export async function freezeViolated(database: Database, violations: readonly Violation[]): Promise<string[]> {
  const frozen: string[] = [];
  for (const [accountId, found] of Map.groupBy(violations, (violation) => violation.accountId)) {
    const reason = found.map(({ invariant, message }) => `${invariant}: ${message}`).join("; ");
    if (await freezeWallet(database, accountId, reason.slice(0, 1000))) frozen.push(accountId);
  }
  return frozen;
}

/** Accounts are looked at again for this long after they changed, so that no slow commit slips through. */
const overlapMs = 3 * 60 * 1000;

/** Checks, at every call, the accounts that changed lately. Earlier entries were checked by earlier calls. */
export function createRecentCheck(database: Database) {
  // Numbers are given before they are committed, so a look goes back to where the one before the last began.
  let afterNumbers: [bigint, bigint] = [0n, 0n];
  return async (now: Date): Promise<Violation[]> => {
    const lastNumber = await findLastPostingNumber(database);
    const accountIds = await listChangedAccounts(database, overlapMs);
    const [afterNumber, previous] = afterNumbers;
    const found =
      accountIds.length === 0 ? [] : await findViolations(database, { kind: "recent", accountIds, afterNumber, now });
    afterNumbers = [previous, lastNumber];
    return found;
  };
}
