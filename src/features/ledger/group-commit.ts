import { setImmediate as turnLoop, setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId, HoldId } from "../../lib/ids.ts";
import { type Database, isDatabaseUnavailable, isUniqueViolation } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import type { Session } from "../../platform/database/session.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import type { Span, SpanOptions, Tracing } from "../../platform/tracing/span.ts";
import { toSpanFailure } from "../../platform/tracing/to-span-failure.ts";
import {
  type Claim,
  createTakenOver,
  type EndedClaim,
  isClaimLost,
  type KeptAnswer,
  lockClaims,
} from "../idempotency/index.ts";
import { applyBatch } from "./apply-batch.ts";
import { decideWithin, type ReachPoint } from "./decide-within.ts";
import { createLedgerMemory, type LedgerMemory } from "./ledger-memory.ts";
import { isOutdated, loadState, runInSession, writeChanges } from "./ledger-store.ts";
import type { Operation, Result } from "./operation.ts";
import type { Reserves } from "./reserves.ts";

export type GroupCommit = {
  /** Answers once the operation is durable, and with it the end of the claim that comes with it. */
  submit(operation: Operation, conclusion: Conclusion | null, span: Span | null): Promise<Result>;
  /** What this process remembers, which may be out of date. */
  memory: LedgerMemory["state"];
  /** For how long the oldest operation has waited. */
  oldestMs(): number;
  /** How many operations wait for the next batch. */
  length(): number;
  /** Ends when everything that was submitted is answered. */
  drain(): Promise<void>;
};

type GroupCommitDependencies = {
  database: Database;
  session: Session;
  reserves: Reserves;
  clock: Clock;
  reach: ReachPoint;
  /** When it says so, nothing is sent again. */
  abandoned: AbortSignal;
  /** Told when the database cannot be reached; what waits is sent again. */
  onTrouble(error: unknown): void;
  /** Told of every batch that was committed. */
  onRecovery(): void;
  /** Told of the account of each operation that was committed. */
  onBooked(accountId: AccountId): void;
  metrics: Pick<Metrics, "ledgerBatchSize" | "ledgerCommitDuration" | "ledgerFailedCommits">;
  tracing: Tracing | null;
};

/** How an operation ends the claim of an Idempotency-Key. */
export type Conclusion = {
  claim: Claim;
  /** About how large the answer is that is kept. */
  bytes: number;
  /** What is kept where the operation has this result; `undefined` where the claim stays. Called as often as it is decided. */
  describe(result: Result): KeptAnswer | null | undefined;
};

type Submitted = {
  operation: Operation;
  conclusion: Conclusion | null;
  /** Of the operation, in the trace of whoever submitted it. */
  span: Span | null;
  submittedAtMs: number;
  /** For how long it is sent again while the database is away. */
  patienceMs: number;
  /** Its caller was told that it could not be recorded: it sees to it that no hold stays open. */
  isLeftOver: boolean;
};

const batchMax = 512;
/** What all answers that one batch keeps may be together. */
const keptBytesMax = 4 * 1024 * 1024;
const waitingMax = 50_000;
/** So many settlements wait for a database to the end of their holds; where more do, all wait for a shorter time. */
const settlementsMax = 10_000;
const accountsMax = 10_000;
/** After another process was met at an account, how many batches lock it first instead of hoping to be alone. */
const cautiousBatches = 16;

/** Commits operations in batches. Nobody waits for a timer: one caller alone waits for one commit, a thousand share one. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: each way to commit changes what the next batch is decided on.
export function createGroupCommit(dependencies: GroupCommitDependencies): GroupCommit {
  const { clock, reach, metrics, reserves } = dependencies;
  const measured = { size: metrics.ledgerBatchSize.at(), duration: metrics.ledgerCommitDuration.at() };
  const memory = createLedgerMemory({ accountsMax });
  const run = runInSession(dependencies.session);
  const cautiousFor = new Map<AccountId, number>();
  /** The holds that the last batch could not open: whatever waits for one of them would charge for a refused call. */
  const givenUp = new Set<HoldId>();
  let lastTryMs = 0;
  const coalescer = createCoalescer<Submitted, Result>({
    run: commitBatch,
    batchMax,
    waitingMax,
    weight: { of: ({ conclusion }) => conclusion?.bytes ?? 0, max: keptBytesMax },
    // All that has arrived by now is read first: who submits because of it belongs to the same batch.
    gather: () => turnLoop(),
    judge,
    expire(failure, submitted) {
      const verdict = judge(failure, submitted);
      return verdict instanceof Error ? verdict : null;
    },
    createFullError: () => new AppError("overloaded", "Too many calls wait for their payment."),
  });

  async function commitBatch(batch: readonly Submitted[]): Promise<Result[]> {
    const startedMs = clock.monotonicMs();
    const span = dependencies.tracing?.share("ledger commit", listSpans(batch), describeCommit(batch)) ?? null;
    givenUp.clear();
    reach("taken");
    try {
      const results = await commit(batch);
      span?.end();
      reach("committed");
      measured.size.add(batch.length);
      measured.duration.add((clock.monotonicMs() - startedMs) / 1000);
      dependencies.onRecovery();
      for (const { operation } of batch) dependencies.onBooked(operation.accountId);
      setImmediate(reach, "answered");
      return results;
    } catch (error) {
      span?.end(toSpanFailure(error));
      memory.forget(listAccounts(batch));
      metrics.ledgerFailedCommits.at().add(1);
      if (isDatabaseUnavailable(error)) {
        dependencies.onTrouble(error);
        await wait(databaseLimits.retryMs);
      }
      lastTryMs = clock.monotonicMs() - startedMs;
      throw isClaimLost(error) ? createTakenOver(error) : error;
    }
  }

  /**
   * One operation that cannot be committed must not keep its neighbours from it. Where the database is away, it is unknown
   * whether a batch was committed: sent again with the same ids, it happens once in either case.
   */
  function judge(failure: unknown, submitted: Submitted): "alone" | "again" | Error {
    if (!isDatabaseUnavailable(failure)) return "alone";
    if (mayWait(submitted)) return "again";
    const { operation } = submitted;
    if (operation.kind === "hold") givenUp.add(operation.id);
    if (!submitted.isLeftOver && !dependencies.abandoned.aborted) leaveOver(submitted);
    return createUnavailable(failure);
  }

  /**
   * A hold that is waited for no longer may or may not be written or released. Sent again, in this order, it ends as
   * soon as the database is back; a first try that is still on its way finds its id taken.
   */
  function leaveOver({ operation, conclusion }: Submitted): void {
    const add = (again: Operation, ended: Conclusion | null): void =>
      coalescer.tell({
        ...describeSubmission(again, ended, null),
        patienceMs: databaseLimits.settlementMsMax,
        isLeftOver: true,
      });
    if (operation.kind === "release") add(operation, conclusion);
    if (operation.kind !== "hold") return;
    const { early: _, ...hold } = operation;
    add(hold, null);
    add({ kind: "release", accountId: hold.accountId, holdId: hold.id }, null);
  }

  function describeSubmission(operation: Operation, conclusion: Conclusion | null, span: Span | null): Submitted {
    const { holdMsMax, settlementMsMax } = databaseLimits;
    const isUrgent = operation.kind === "hold" || operation.kind === "release";
    const patienceMs = isUrgent ? holdMsMax : settlementMsMax;
    return { operation, conclusion, span, submittedAtMs: clock.monotonicMs(), patienceMs, isLeftOver: false };
  }

  /** Not when another try, as long as the last one, would end too late, or for a call that was refused just now. */
  function mayWait({ operation, submittedAtMs, patienceMs, isLeftOver }: Submitted): boolean {
    if (dependencies.abandoned.aborted) return false;
    if (!isLeftOver && "holdId" in operation && givenUp.has(operation.holdId)) return false;
    const isCrowded = coalescer.length() > settlementsMax;
    const { crowdedSettlementMsMax } = databaseLimits;
    const patience = isCrowded && patienceMs > crowdedSettlementMsMax ? crowdedSettlementMsMax : patienceMs;
    return clock.monotonicMs() - submittedAtMs + lastTryMs < patience;
  }

  async function commit(batch: readonly Submitted[]): Promise<Result[]> {
    return (mustLock(batch) ? null : await commitFromMemory(batch)) ?? (await commitLocked(batch));
  }

  /** Accounts where other processes are at work too, and operations that begin with a look at the past. */
  function mustLock(batch: readonly Submitted[]): boolean {
    let isCautious = false;
    for (const accountId of cautiousFor.size === 0 ? [] : listAccounts(batch)) {
      const left = cautiousFor.get(accountId);
      if (left === undefined) continue;
      isCautious = true;
      if (left > 1) cautiousFor.set(accountId, left - 1);
      else cautiousFor.delete(accountId);
    }
    return isCautious || batch.some(({ operation }) => !decidableKinds.has(operation.kind));
  }

  /** One round trip: decides on what is remembered, and writes if that is still right. `null` when it is not. */
  async function commitFromMemory(batch: readonly Submitted[]): Promise<Result[] | null> {
    const now = clock.now();
    const operations = batch.map(({ operation }) => operation);
    const missing = memory.listMissing(operations, now);
    if (missing !== null) {
      memory.add(await loadState(run, missing));
      reach("loaded");
      // What is still not there is a hold that has ended, or nothing at all: seldom, and looked at under locks.
      if (memory.listMissing(operations, now) !== null) return null;
    }
    const begunMs = performance.now();
    const { results, changes } = applyBatch(memory.state, operations, now, reserves);
    reach("decided");
    // Whether a reserve has lapsed is known under locks only.
    if (results.some(({ kind }) => kind === "contended")) return null;
    // An answer that changes nothing is checked by nobody, so it must not come from memory.
    if (!operations.every(({ accountId }) => changes.accountIds.has(accountId))) return null;
    const endedClaims = listEndedClaims(batch, results);
    try {
      memory.keep(changes, await writeChanges(run, changes, { state: memory.state, endedClaims }));
      reserves.keep(changes, begunMs);
      return results;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (isOutdated(error)) beCautious(changes.exactAccountIds);
      // Else most likely an id that is there already; under locks the answer to it is found.
    }
    memory.forget(listAccounts(batch));
    return null;
  }

  function beCautious(accountIds: Iterable<AccountId>): void {
    if (cautiousFor.size > accountsMax) cautiousFor.clear();
    for (const accountId of accountIds) cautiousFor.set(accountId, cautiousBatches);
  }

  async function commitLocked(batch: readonly Submitted[], isSecondTry = false): Promise<Result[]> {
    const now = clock.now();
    const begunMs = performance.now();
    const operations = batch.map(({ operation }) => operation);
    try {
      const { results, changes, state } = await dependencies.database.transaction().execute(async (tx) => {
        await lockClaims(
          tx,
          batch.flatMap(({ conclusion }) => conclusion?.claim ?? []),
        );
        return await decideWithin(tx, operations, {
          ...{ now, reach, early: reserves },
          listEndedClaims: (decided) => listEndedClaims(batch, decided),
        });
      });
      memory.add(state);
      memory.keep(changes, null);
      reserves.keep(changes, begunMs);
      return results;
    } catch (error) {
      if (isSecondTry || !isUniqueViolation(error)) throw error;
      // Somebody used an id for another account at the same moment; a second look finds it.
      return await commitLocked(batch, true);
    }
  }

  return {
    submit: (operation, conclusion, span) => coalescer.submit(describeSubmission(operation, conclusion, span)),
    memory: memory.state,
    oldestMs() {
      const oldest = coalescer.oldest();
      return oldest === null ? 0 : clock.monotonicMs() - oldest.submittedAtMs;
    },
    length: coalescer.length,
    drain: coalescer.drain,
  };
}

const decidableKinds: ReadonlySet<Operation["kind"]> = new Set(["hold", "extend", "settle", "release"]);

function listAccounts(batch: readonly Submitted[]): Set<AccountId> {
  return new Set(batch.map(({ operation }) => operation.accountId));
}

function listSpans(batch: readonly Submitted[]): (Span | null)[] {
  return batch.map(({ span }) => span);
}

function describeCommit({ length }: readonly Submitted[]): SpanOptions {
  return { kind: "client", attributes: { "db.system.name": "postgresql", "db.operation.batch.size": length } };
}

function listEndedClaims(batch: readonly Submitted[], results: readonly Result[]): EndedClaim[] {
  return batch.flatMap(({ conclusion }, index) => {
    const result = results[index];
    const answer = conclusion === null || result === undefined ? undefined : conclusion.describe(result);
    return conclusion === null || answer === undefined ? [] : [{ claim: conclusion.claim, answer }];
  });
}

function createUnavailable(cause: unknown): AppError {
  return new AppError("overloaded", "The payment could not be recorded. Try again in a moment.", { cause });
}
