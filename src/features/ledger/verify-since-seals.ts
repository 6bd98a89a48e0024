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

/** How much a check read. */
export type Coverage = { accounts: number; entries: bigint; holds: number };

type Check = {
  now: Date;
  portions?: Portions;
  /** Ends the check after the current portion. */
  signal?: AbortSignal | undefined;
  /** Called once for each portion with violations. */
  onFound(outcome: CheckOutcome): void;
};

/** How much one statement reads. One transaction or one usage slot may exceed it. */
type Portions = { accounts: number; entries: number; holds: number };
const portionsMax: Portions = { accounts: 2000, entries: 50_000, holds: 20_000 };

/**
 * Checks each account's history since its seal, and all balances against sealed sums plus that history. Seals the correct
 * accounts and freezes the others. Only the full check finds tampering with sealed entries.
 */
export async function checkSinceSeals(database: Database, asked: Check): Promise<Coverage> {
  const check = reportOnce(asked);
  const coverage: Coverage = { accounts: 0, entries: 0n, holds: 0 };
  for (let after = ""; check.signal?.aborted !== true; ) {
    const accounts = await takePortion(database, { after, entries: "new" }, check);
    const last = accounts.at(-1);
    if (last === undefined) break;
    const end = await checkPortion(database, accounts, check);
    if (end === "aborted") break;
    countAccounts(coverage, accounts);
    after = last.accountId;
  }
  return coverage;
}

/** Like `checkSinceSeals`, but changes nothing. */
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

/** `kept` resumes an interrupted full check; `own` runs a new one from start to end. */
type Place = "kept" | "own";

/**
 * Checks everything, in portions. Compares each account's seal once more, deletes it, and checks the history from the start.
 * Then checks all holds, including those without postings. Returns `null` if aborted.
 */
export async function checkEverything(
  database: Database,
  { place, ...asked }: Check & { place: Place },
): Promise<Coverage | null> {
  const check = reportOnce(asked);
  const coverage: Coverage = { accounts: 0, entries: 0n, holds: 0 };
  const saveProgress = place === "kept" ? updateWholeProgress : async () => {};
  let progress = (place === "kept" ? await readWholeProgress(database) : null) ?? wholeStart;
  while (progress.holdId === null) {
    if (check.signal?.aborted) return null;
    const accounts = await takePortion(database, { after: progress.accountId, entries: "all" }, check);
    const last = accounts.at(-1);
    if (last !== undefined) {
      progress = await unsealPortion(database, accounts, { progress, check, saveProgress });
      const end = await checkPortion(database, accounts, check);
      if (end === "aborted") return null;
      // A large account is checked in parts, which may split a usage slot.
      if (accounts.length === 1) await checkScope(database, { kind: "usage", accountIds: listIds(accounts) }, check);
      countAccounts(coverage, accounts);
    }
    progress = last === undefined ? { ...progress, holdId: "" } : { ...progress, accountId: last.accountId };
    await saveProgress(database, progress);
  }
  for (let afterId = progress.holdId; ; ) {
    if (check.signal?.aborted) return null;
    const last = await findLastHold(database, { after: afterId, limit: readPortions(check).holds });
    if (last === null) break;
    await checkScope(database, { kind: "holds", afterId, upToId: last.id }, check);
    coverage.holds += last.count;
    afterId = last.id;
    await saveProgress(database, { ...progress, holdId: afterId });
  }
  await saveProgress(database, null);
  return coverage;
}

const wholeStart: WholeProgress = { accountId: "", unsealedId: "", holdId: null };

/** Accounts with about as many entries as one statement should read; a larger account is alone. */
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

/** Checks the unsealed history and seals it. */
async function checkPortion(
  database: Database,
  accounts: readonly ListedAccount[],
  check: Check,
): Promise<"checked" | "aborted"> {
  const entriesMax = readPortions(check).entries;
  const [only] = accounts;
  if (only !== undefined && accounts.length === 1) {
    for (;;) {
      const part = await findUnsealedPart(database, { accountId: only.accountId, entriesMax });
      if (part === null) break;
      const scope = { kind: "part", accountIds: [only.accountId], upToNumber: part.upToNumber } as const;
      const wrong = await checkScope(database, scope, check);
      // Violations are not sealed, so going on would find the same part again.
      if (wrong.size > 0) return "checked";
      await seal(database, [part]);
      if (check.signal?.aborted) return "aborted";
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

/** Resumes an interrupted full check at the first account that it has not unsealed. */
async function unsealPortion(
  database: Database,
  accounts: readonly ListedAccount[],
  {
    progress,
    check,
    saveProgress,
  }: { progress: WholeProgress; check: Check; saveProgress: typeof updateWholeProgress },
): Promise<WholeProgress> {
  const accountIds = listIds(accounts).filter((accountId) => accountId > progress.unsealedId);
  const [lastId, sealed] = [accountIds.at(-1), await listSealedAccounts(database, accountIds)];
  if (lastId === undefined) return progress;
  const sealedAccounts = accounts.filter(({ accountId }) => sealed.has(accountId));
  if (sealedAccounts.length > 0) await checkPortion(database, sealedAccounts, check);
  const after = { ...progress, unsealedId: lastId };
  await inTransaction(database, async (tx) => {
    await unsealAccounts(tx, accountIds);
    await saveProgress(tx, after);
  });
  return after;
}

/** Drops repeated violations: entries that are read twice are found twice. */
function reportOnce({ onFound, ...check }: Check): Check {
  const reported = new Set<string>();
  return {
    ...check,
    onFound({ violations, frozen }) {
      const fresh = violations.filter((violation) => !reported.has(JSON.stringify(violation)));
      for (const violation of fresh) reported.add(JSON.stringify(violation));
      if (fresh.length > 0) onFound({ violations: fresh, frozen });
    },
  };
}

/** Freezes and reports violating accounts, and returns them. */
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
