import { type Database, inTransaction } from "../../platform/database/database.ts";
import { readWholeProgress, updateWholeProgress, type WholeProgress } from "./check-progress-store.ts";
import type { Scope } from "./check-scope-store.ts";
import type { Violation } from "./invariant-store.ts";
import {
  findLastHold,
  findUnsealedPart,
  type ListedAccount,
  listAccountsToCheck,
  listSealedAccounts,
  listUnsealed,
  sealAccounts,
  type Unsealed,
  unsealAccounts,
} from "./seal-store.ts";
import { type CheckOutcome, checkAccounts, findViolations } from "./verify-ledger.ts";

/** What was looked at. */
export type Coverage = { accounts: number; entries: bigint; holds: number };

type Check = {
  now: Date;
  portions?: Portions;
  /** Ends the check after the portion that it is at. */
  signal?: AbortSignal | undefined;
  /** Told of what each portion has that is wrong, once. */
  onFound(outcome: CheckOutcome): void;
};

/** So much is read by one statement, but for what one movement or one slot of usage has more. */
type Portions = { accounts: number; entries: number; holds: number };
const portionsMax: Portions = { accounts: 2000, entries: 50_000, holds: 20_000 };

/**
 * Checks what is new in each account since it was sealed, and that all balances are what was sealed and what came since;
 * seals the accounts where nothing is wrong, and freezes the others. What was changed behind the ledger's back in entries
 * that are sealed is for the check of everything to find.
 */
export async function checkSinceSeals(database: Database, asked: Check): Promise<Coverage> {
  const check = tellOnce(asked);
  const coverage: Coverage = { accounts: 0, entries: 0n, holds: 0 };
  for (let after = ""; check.signal?.aborted !== true; ) {
    const accounts = await takePortion(database, { after, entries: "new" }, check);
    const last = accounts.at(-1);
    if (last === undefined) break;
    const end = await checkPortion(database, accounts, check);
    if (end === "cut-off") break;
    countAccounts(coverage, accounts);
    after = last.accountId;
  }
  return coverage;
}

/** The same, but changes nothing. */
export async function findViolationsSinceSeals(database: Database, now: Date): Promise<Violation[]> {
  const found: Violation[] = [];
  for (let after = ""; ; ) {
    const accounts = await takePortion(database, { after, entries: "new" }, {});
    const last = accounts.at(-1);
    if (last === undefined) return found;
    found.push(...(await findViolations(database, { kind: "sealed", accountIds: listIds(accounts), now })));
    after = last.accountId;
  }
}

/** `kept`: a check of everything that was cut off is gone on with; `own`: one from the beginning to the end, at once. */
type Place = "kept" | "own";

/**
 * Checks everything, in portions. What was sealed is compared once more, then forgotten and read again from its beginning.
 * After the accounts come all holds, also those that moved nothing. Answers `null` when it was cut off.
 */
export async function checkEverything(
  database: Database,
  { place, ...asked }: Check & { place: Place },
): Promise<Coverage | null> {
  const check = tellOnce(asked);
  const coverage: Coverage = { accounts: 0, entries: 0n, holds: 0 };
  const keepPlace = place === "kept" ? updateWholeProgress : async () => {};
  let progress = (place === "kept" ? await readWholeProgress(database) : null) ?? wholeStart;
  while (progress.holdId === null) {
    if (check.signal?.aborted) return null;
    const accounts = await takePortion(database, { after: progress.accountId, entries: "all" }, check);
    const last = accounts.at(-1);
    if (last !== undefined) {
      progress = await unsealPortion(database, accounts, { progress, check, keepPlace });
      const end = await checkPortion(database, accounts, check);
      if (end === "cut-off") return null;
      // What was checked in parts may have usage between them.
      if (accounts.length === 1) await checkScope(database, { kind: "usage", accountIds: listIds(accounts) }, check);
      countAccounts(coverage, accounts);
    }
    progress = last === undefined ? { ...progress, holdId: "" } : { ...progress, accountId: last.accountId };
    await keepPlace(database, progress);
  }
  for (let afterId = progress.holdId; ; ) {
    if (check.signal?.aborted) return null;
    const last = await findLastHold(database, { after: afterId, limit: readPortions(check).holds });
    if (last === null) break;
    await checkScope(database, { kind: "holds", afterId, upToId: last.id }, check);
    coverage.holds += last.count;
    afterId = last.id;
    await keepPlace(database, { ...progress, holdId: afterId });
  }
  await keepPlace(database, null);
  return coverage;
}

const wholeStart: WholeProgress = { accountId: "", unsealedId: "", holdId: null };

/** Accounts that have about as many entries together as a statement should read; a larger one is alone. */
async function takePortion(
  database: Database,
  { after, entries }: { after: string; entries: "all" | "new" },
  check: Pick<Check, "portions">,
): Promise<ListedAccount[]> {
  const { accounts: limit, entries: entriesMax } = readPortions(check);
  const listed = await listAccountsToCheck(database, { after, limit, entries });
  let total = 0n;
  const tooMany = listed.findIndex((account) => {
    total += account.entries;
    return total > entriesMax;
  });
  return tooMany === -1 ? listed : listed.slice(0, tooMany === 0 ? 1 : tooMany);
}

/** What is new, or all of it where nothing is sealed. */
async function checkPortion(
  database: Database,
  accounts: readonly ListedAccount[],
  check: Check,
): Promise<"checked" | "cut-off"> {
  const entriesMax = readPortions(check).entries;
  const [only] = accounts;
  if (only !== undefined && accounts.length === 1) {
    for (;;) {
      const part = await findUnsealedPart(database, { accountId: only.accountId, entriesMax });
      if (part === null) break;
      const scope = { kind: "part", accountIds: [only.accountId], upToNumber: part.upToNumber } as const;
      const wrong = await checkScope(database, scope, check);
      // What is not right is not sealed, so that it would be found again and again.
      if (wrong.size > 0) return "checked";
      await seal(database, [part]);
      if (check.signal?.aborted) return "cut-off";
    }
  }
  const accountIds = listIds(accounts);
  const unsealed = await listUnsealed(database, accountIds);
  const wrong = await checkScope(database, { kind: "sealed", accountIds }, check);
  await seal(
    database,
    unsealed.filter(({ accountId }) => !wrong.has(accountId)),
  );
  return "checked";
}

async function seal(database: Database, checked: readonly Unsealed[]): Promise<void> {
  if (checked.length > 0) await inTransaction(database, (tx) => sealAccounts(tx, checked));
}

/** Those that were unsealed by a check of everything that was cut off are gone on with where that was. */
async function unsealPortion(
  database: Database,
  accounts: readonly ListedAccount[],
  { progress, check, keepPlace }: { progress: WholeProgress; check: Check; keepPlace: typeof updateWholeProgress },
): Promise<WholeProgress> {
  const accountIds = listIds(accounts).filter((accountId) => accountId > progress.unsealedId);
  const [lastId, sealed] = [accountIds.at(-1), await listSealedAccounts(database, accountIds)];
  if (lastId === undefined) return progress;
  const sealedAccounts = accounts.filter(({ accountId }) => sealed.has(accountId));
  if (sealedAccounts.length > 0) await checkPortion(database, sealedAccounts, check);
  const after = { ...progress, unsealedId: lastId };
  await inTransaction(database, async (tx) => {
    await unsealAccounts(tx, accountIds);
    await keepPlace(tx, after);
  });
  return after;
}

/** What is read twice is found twice. */
function tellOnce({ onFound, ...check }: Check): Check {
  const told = new Set<string>();
  return {
    ...check,
    onFound({ violations, frozen }) {
      const fresh = violations.filter((violation) => !told.has(JSON.stringify(violation)));
      for (const violation of fresh) told.add(JSON.stringify(violation));
      if (fresh.length > 0) onFound({ violations: fresh, frozen });
    },
  };
}

/** Freezes and tells of what is wrong; answers the accounts in question. */
async function checkScope(database: Database, scope: Scope, { now, onFound }: Check): Promise<Set<string>> {
  const outcome = await checkAccounts(database, { ...scope, now });
  if (outcome.violations.length > 0) onFound(outcome);
  return new Set(outcome.violations.map(({ accountId }) => accountId));
}

function readPortions({ portions = portionsMax }: Pick<Check, "portions">): Portions {
  return portions;
}

function listIds(accounts: readonly ListedAccount[]): ListedAccount["accountId"][] {
  return accounts.map(({ accountId }) => accountId);
}

function countAccounts(coverage: Coverage, accounts: readonly ListedAccount[]): void {
  coverage.accounts += accounts.length;
  for (const { entries } of accounts) coverage.entries += entries;
}
