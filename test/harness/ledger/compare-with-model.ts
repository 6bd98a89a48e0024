import { inspect } from "node:util";
import fc from "fast-check";
import type { Changes } from "../../../src/features/ledger/draft.ts";
import type { KeySpending } from "../../../src/features/ledger/ledger-state.ts";
import type { Operation, Result } from "../../../src/features/ledger/operation.ts";
import type { AccountId } from "../../../src/lib/ids.ts";
import { resolveWait, resolveWish } from "../tasks/resolve-wish.ts";
import { checkLedgerTables } from "./check-ledger-tables.ts";
import { assertSame } from "./disagreement.ts";
import { knownAccountIds, rareScripts, type Script, script } from "./ledger-arbitraries.ts";
import { createLedgerModel, type LedgerModel } from "./ledger-model.ts";
import { type ApplyBatch, createReducerWorld, type LedgerTables, type ReducerWorld } from "./reducer-world.ts";

const shorteningMsMax = 10_000;
/** By how many operations a process may be behind. */
const earlierMax = 5;

/** A batch of a script: its operations, the model's answers, and the model's state afterwards. */
type Scene = { operations: readonly Operation[]; now: Date; answers: readonly Result[]; model: LedgerModel };

type Audience = {
  setFrozen(accountId: AccountId, isFrozen: boolean): void;
  watch(scene: Scene): void;
};

/** Plays a script on the model, which turns each wish into an operation at its turn. */
function playScript({ startsAt, steps }: Script, audience: Audience): void {
  const model = createLedgerModel(knownAccountIds);
  const history: Operation[] = [];
  let now = startsAt;
  for (const { wait, frozenId, wishes } of steps) {
    now = resolveWait(wait, now, model.picture());
    for (const accountId of knownAccountIds) {
      model.setFrozen(accountId, accountId === frozenId);
      audience.setFrozen(accountId, accountId === frozenId);
    }
    const scene = { operations: [] as Operation[], now, answers: [] as Result[], model };
    for (const wish of wishes) {
      const operation = resolveWish(wish, { model, now, history });
      history.push(operation);
      scene.operations.push(operation);
      scene.answers.push(model.apply(operation, now));
    }
    audience.watch(scene);
  }
}

/**
 * Plays a script on the reducer as well. Throws a `Disagreement` if its answer or its final ledger differs from the
 * model's, or if its tables violate an invariant.
 */
export function compareWithModel(
  script: Script,
  { applyBatch, onAnswer = () => {} }: { applyBatch: ApplyBatch; onAnswer?: OnAnswer },
): void {
  // Unrelated rows must make no difference, so every other script loads everything.
  const handout = script.steps.length % 2 === 0 ? "what is asked about" : "everything";
  const world = createReducerWorld({ accountIds: knownAccountIds, applyBatch, handout });
  playScript(script, {
    setFrozen: world.setFrozen,
    watch(scene) {
      const answers = world.apply(scene.operations, scene.now);
      for (const [index, operation] of scene.operations.entries()) {
        const expected = scene.answers[index];
        assertSame(`the answer to ${operation.kind}`, answers[index], expected);
        if (expected !== undefined) onAnswer(operation, expected);
      }
      comparePictures(world, scene.model);
      checkLedgerTables(world.tables);
      world.checkMovements();
    },
  });
}

type OnAnswer = (operation: Operation, answer: Result) => void;

function comparePictures(world: ReducerWorld, model: LedgerModel): void {
  const found = world.picture();
  const expected = model.picture();
  for (const part of ["buckets", "holds", "spending", "postings", "charges"] as const)
    assertSame(`the ${part} afterwards`, found[part], expected[part]);
}

/** Plays a script in batches and one operation at a time, and compares the resulting ledgers. */
export function compareBatchesWithSingles(script: Script, applyBatch: ApplyBatch): void {
  const parts = { accountIds: knownAccountIds, applyBatch };
  const batches = createReducerWorld({ ...parts, handout: "what is asked about" });
  const singles = createReducerWorld({ ...parts, handout: "everything" });
  playScript(script, {
    setFrozen(accountId, isFrozen) {
      batches.setFrozen(accountId, isFrozen);
      singles.setFrozen(accountId, isFrozen);
    },
    watch({ operations, now }) {
      const together = batches.apply(operations, now);
      const oneByOne = operations.flatMap((operation) => singles.apply([operation], now));
      assertSame("one batch answers as many do", together, oneByOne);
      assertSame("one batch leaves behind what many do", batches.picture(), singles.picture());
    },
  });
}

/**
 * Also decides each operation on the state of some operations ago, as a process does that has not yet seen another's
 * writes. If that decision is valid for any state of the same shape, it must equal the current decision, except for the
 * amounts that it adds to. Returns the number of such operations.
 */
export function compareEarlyWithLate(script: Script, applyBatch: ApplyBatch): number {
  const world = createReducerWorld({ accountIds: knownAccountIds, applyBatch, handout: "everything" });
  const earlier: LedgerTables[] = [];
  let count = 0;

  function compare(operation: Operation, now: Date, before: LedgerTables): void {
    const { accountId } = operation;
    const early = world.decideOn(before, [operation], now);
    if (!canBeAdded(early.changes, { accountId, before, between: world.tables })) return;
    const late = world.decideOn(world.tables, [operation], now);
    assertSame(`the answer to ${operation.kind} without the others`, early.results, late.results);
    const [added, expected] = [
      presentDifference(early.changes, accountId, before),
      presentDifference(late.changes, accountId, world.tables),
    ];
    assertSame("what is added without the others", added, expected);
    count += 1;
  }

  playScript(script, {
    setFrozen(accountId, isFrozen) {
      world.setFrozen(accountId, isFrozen);
      // Freezing an account changes the shape of its wallet.
      for (const { wallets } of earlier) {
        const wallet = wallets.get(accountId);
        if (wallet !== undefined) wallets.set(accountId, { ...wallet, isFrozen });
      }
    },
    watch({ operations, now }) {
      for (const operation of operations) {
        for (const before of earlier) compare(operation, now, before);
        earlier.unshift(world.copy());
        earlier.length = Math.min(earlier.length, earlierMax);
        world.apply([operation], now);
      }
    },
  });
  return count;
}

/** Whether `ledger_commit` would add an earlier decision to what another process has written by now. */
function canBeAdded(
  changes: Changes,
  { accountId, before, between }: { accountId: AccountId; before: LedgerTables; between: LedgerTables },
): boolean {
  const [then, now] = [before.wallets.get(accountId), between.wallets.get(accountId)];
  if (!changes.accountIds.has(accountId) || changes.exactAccountIds.has(accountId)) return false;
  if (then?.shape !== now?.shape || then?.version === now?.version) return false;
  const isShort = [...changes.leastAvailable].some(([id, least]) => {
    const [known, found] = [before.buckets.get(id), between.buckets.get(id)];
    if (known?.accountId !== accountId || found === undefined) return false;
    return least + (found.posted - found.held) - (known.posted - known.held) < 0n;
  });
  const isBeyond = [...changes.mostCounted].some(([name, { counted, budget }]) => {
    if (changes.spending.get(name)?.accountId !== accountId) return false;
    return counted + sumSpending(between.spending.get(name)) - sumSpending(before.spending.get(name)) > budget;
  });
  const hasChanged = [...changes.holds.values()].some(({ id, accountId: owner }) => {
    return owner === accountId && before.holds.get(id) !== between.holds.get(id);
  });
  return !isShort && !isBeyond && !hasChanged;
}

function sumSpending(spending: KeySpending | undefined): bigint {
  return spending === undefined ? 0n : spending.held + spending.spent;
}

/** The changes of a batch to an account, as differences. */
function presentDifference(changes: Changes, accountId: AccountId, before: LedgerTables) {
  const isOwn = (thing: { accountId: AccountId }): boolean => thing.accountId === accountId;
  return {
    buckets: [...changes.buckets.values()].filter(isOwn).map(({ id, posted, held, entryCount }) => {
      const was = before.buckets.get(id) ?? { posted: 0n, held: 0n, entryCount: 0n };
      return { id, posted: posted - was.posted, held: held - was.held, entries: entryCount - was.entryCount };
    }),
    spending: [...changes.spending].flatMap(([name, spending]) => {
      const { held, spent } = before.spending.get(name) ?? { held: 0n, spent: 0n };
      return isOwn(spending) ? [{ name, held: spending.held - held, spent: spending.spent - spent }] : [];
    }),
    holds: [...changes.holds.values()].filter(isOwn),
    charges: changes.charges.filter(isOwn),
    postings: changes.postings.filter(isOwn).map(({ entry, ...posting }) => {
      const was = entry === null ? undefined : before.buckets.get(entry.bucketId);
      const number = entry && entry.number - (was?.entryCount ?? 0n);
      return { ...posting, number, balance: entry && entry.balanceAfter - (was?.posted ?? 0n) };
    }),
  };
}

/**
 * Plays many scripts, and returns their number of operations. Throws with the shortest failing script that it finds,
 * and its failure.
 */
export function checkScripts(
  check: (script: Script) => void,
  options: { runs: number; seed?: number; isShortened?: boolean },
): { operationCount: number } {
  const { runs, isShortened = true, ...rest } = options;
  let operationCount = 0;
  let failedAtMs: number | undefined;
  const property = fc.property(script, (story) => {
    // Limits shrinking: otherwise the test times out and reports nothing.
    if (failedAtMs !== undefined && performance.now() - failedAtMs > shorteningMsMax) return;
    try {
      check(story);
    } catch (error) {
      failedAtMs ??= performance.now();
      throw error;
    }
    operationCount += story.steps.reduce((count, { wishes }) => count + wishes.length, 0);
  });
  const examples = rareScripts.map((story): [Script] => [story]);
  const outcome = fc.check(property, { numRuns: runs, endOnFailure: !isShortened, examples, ...rest });
  if (!outcome.failed) return { operationCount };
  const [counterexample] = outcome.counterexample ?? [];
  const story = counterexample === undefined ? "" : presentScript(counterexample);
  const { errorInstance: cause } = outcome;
  const complaint = cause instanceof Error ? cause.message : String(cause);
  throw new Error(`${complaint}\nseed ${outcome.seed}, path ${outcome.counterexamplePath}\n${story}`, { cause });
}

/** Prints the number of runs in a line such as `ledger model: 3 000 runs, 90 000 operations`. */
export function reportScripts(title: string, counts: { runs: number; operationCount: number }): void {
  const present = (count: number): string => count.toLocaleString("en").replaceAll(",", " ");
  console.log(`${title}: ${present(counts.runs)} runs, ${present(counts.operationCount)} operations`);
}

/** The operations of a script, formatted for people. */
function presentScript(script: Script): string {
  const lines: string[] = [];
  playScript(script, {
    setFrozen: (accountId, isFrozen) => lines.push(...(isFrozen ? [`${accountId} is frozen for a moment`] : [])),
    watch({ operations, now, answers }) {
      lines.push(`at ${now.toISOString()}`);
      for (const [index, operation] of operations.entries())
        lines.push(`  ${presentOnOneLine(operation)}\n    → ${presentOnOneLine(answers[index])}`);
    },
  });
  return lines.join("\n");
}

function presentOnOneLine(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY, compact: true });
}
