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
import { decideWithin, type Failpoint } from "./decide-within.ts";
import { createLedgerCache, type LedgerCache } from "./ledger-cache.ts";
import { isOutdated, loadState, runInSession, writeChanges } from "./ledger-store.ts";
import type { Operation, Result } from "./operation.ts";
import type { Reserves } from "./reserves.ts";

export type GroupCommit = {
  /** Resolves once the operation, and the end of its claim, are durable. */
  submit(operation: Operation, conclusion: Conclusion | null, span: Span | null): Promise<Result>;
  /** This process's cache, which may be stale. */
  cache: LedgerCache["state"];
  /** How long the oldest operation has waited. */
  oldestMs(): number;
  /** How many operations wait for the next batch. */
  length(): number;
  /** Resolves when every submitted operation is. */
  drain(): Promise<void>;
};

type GroupCommitDependencies = {
  database: Database;
  session: Session;
  reserves: Reserves;
  clock: Clock;
  failpoint: Failpoint;
  /** Aborts all retries. */
  abandoned: AbortSignal;
  /** Called when the database is unavailable; pending operations are retried. */
  onTrouble(error: unknown): void;
  /** Called for every committed batch. */
  onRecovery(): void;
  /** Called for every committed operation. */
  onBooked(accountId: AccountId): void;
  metrics: Pick<Metrics, "ledgerBatchSize" | "ledgerCommitDuration" | "ledgerFailedCommits">;
  tracing: Tracing | null;
};

/** How an operation ends the claim of an Idempotency-Key. */
export type Conclusion = {
  claim: Claim;
  /** The approximate size of the stored response. */
  bytes: number;
  /** The response to store for this result; `undefined` keeps the claim open. Called again if the batch is decided again. */
  describe(result: Result): KeptAnswer | null | undefined;
};

type Submitted = {
  operation: Operation;
  conclusion: Conclusion | null;
  /** The operation's span in its submitter's trace. */
  span: Span | null;
  submittedAtMs: number;
  /** How long to retry while the database is unavailable. */
  patienceMs: number;
  /** Its caller got an error already; it runs to make sure that no hold stays open. */
  isResubmitted: boolean;
};

const batchMax = 512;
/** Total size of the responses that one batch stores. */
const keptBytesMax = 4 * 1024 * 1024;
const waitingMax = 50_000;
/** Beyond this queue length, settlements are retried for a shorter time. */
const settlementsMax = 10_000;
const accountsMax = 10_000;
/** After a conflict with another process, how many batches of the account use pessimistic locking. */
const pessimisticBatches = 16;

/** Group commit without a timer: a single caller waits for one commit, a thousand callers share one. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the commit paths share the cache that the next batch is decided on.
export function createGroupCommit(dependencies: GroupCommitDependencies): GroupCommit {
  const { clock, failpoint, metrics, reserves } = dependencies;
  const measured = { size: metrics.ledgerBatchSize.at(), duration: metrics.ledgerCommitDuration.at() };
  const cache = createLedgerCache({ accountsMax });
  const run = runInSession(dependencies.session);
  const pessimisticFor = new Map<AccountId, number>();
  /** Holds that the last batch could not open. Operations on them would charge for a rejected call. */
  const givenUp = new Set<HoldId>();
  let lastTryMs = 0;
  const coalescer = createCoalescer<Submitted, Result>({
    run: commitBatch,
    batchMax,
    waitingMax,
    weight: { of: ({ conclusion }) => conclusion?.bytes ?? 0, max: keptBytesMax },
    // Let the event loop read pending input first, so operations that result from it join this batch.
    gather: () => turnLoop(),
    judge,
    expire(failure, submitted) {
      const verdict = judge(failure, submitted);
      return verdict instanceof Error ? verdict : null;
    },
    createFullError: () =>
      new AppError("overloaded", "Too many payments are waiting to be recorded. Try again in a moment."),
  });

  async function commitBatch(batch: readonly Submitted[]): Promise<Result[]> {
    const startedMs = clock.monotonicMs();
    const span = dependencies.tracing?.share("ledger commit", listSpans(batch), describeCommit(batch)) ?? null;
    givenUp.clear();
    failpoint("taken");
    try {
      const results = await commit(batch);
      span?.end();
      failpoint("committed");
      measured.size.add(batch.length);
      measured.duration.add((clock.monotonicMs() - startedMs) / 1000);
      dependencies.onRecovery();
      for (const { operation } of batch) dependencies.onBooked(operation.accountId);
      setImmediate(failpoint, "answered");
      return results;
    } catch (error) {
      span?.end(toSpanFailure(error));
      cache.forget(listAccounts(batch));
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
   * A batch that fails is split, so one bad operation does not fail the others. If the database is unavailable, the batch may
   * have been committed: retrying with the same ids is idempotent.
   */
  function judge(failure: unknown, submitted: Submitted): "alone" | "again" | Error {
    if (!isDatabaseUnavailable(failure)) return "alone";
    if (mayWait(submitted)) return "again";
    const { operation } = submitted;
    if (operation.kind === "hold") givenUp.add(operation.id);
    if (!submitted.isResubmitted && !dependencies.abandoned.aborted) resubmit(submitted);
    return createUnavailable(failure);
  }

  /**
   * A hold or release whose caller gave up may or may not be written. Submit hold and release again, in this order, so the
   * hold ends once the database is back. A first try that arrives late finds its id taken.
   */
  function resubmit({ operation, conclusion }: Submitted): void {
    const add = (again: Operation, ended: Conclusion | null): void =>
      coalescer.tell({
        ...describeSubmission(again, ended, null),
        patienceMs: databaseLimits.settlementMsMax,
        isResubmitted: true,
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
    return { operation, conclusion, span, submittedAtMs: clock.monotonicMs(), patienceMs, isResubmitted: false };
  }

  /** `false` if another try, as long as the last one, would exceed the patience, or if the call's hold was given up. */
  function mayWait({ operation, submittedAtMs, patienceMs, isResubmitted }: Submitted): boolean {
    if (dependencies.abandoned.aborted) return false;
    if (!isResubmitted && "holdId" in operation && givenUp.has(operation.holdId)) return false;
    const isCrowded = coalescer.length() > settlementsMax;
    const { crowdedSettlementMsMax } = databaseLimits;
    const patience = isCrowded && patienceMs > crowdedSettlementMsMax ? crowdedSettlementMsMax : patienceMs;
    return clock.monotonicMs() - submittedAtMs + lastTryMs < patience;
  }

  async function commit(batch: readonly Submitted[]): Promise<Result[]> {
    return (mustLock(batch) ? null : await commitFromCache(batch)) ?? (await commitLocked(batch));
  }

  /** Accounts that other processes write too, and operations that need the history. */
  function mustLock(batch: readonly Submitted[]): boolean {
    let isPessimistic = false;
    for (const accountId of pessimisticFor.size === 0 ? [] : listAccounts(batch)) {
      const left = pessimisticFor.get(accountId);
      if (left === undefined) continue;
      isPessimistic = true;
      if (left > 1) pessimisticFor.set(accountId, left - 1);
      else pessimisticFor.delete(accountId);
    }
    return isPessimistic || batch.some(({ operation }) => !decidableKinds.has(operation.kind));
  }

  /** Optimistic, one round trip: decides on the cache, and writes if the versions still match. `null` if they don't. */
  async function commitFromCache(batch: readonly Submitted[]): Promise<Result[] | null> {
    const now = clock.now();
    const operations = batch.map(({ operation }) => operation);
    const missing = cache.listMissing(operations, now);
    if (missing !== null) {
      cache.add(await loadState(run, missing));
      failpoint("loaded");
      // Still missing: a hold that has ended or never existed. Rare, so decide under locks.
      if (cache.listMissing(operations, now) !== null) return null;
    }
    const startedMs = performance.now();
    const { results, changes } = applyBatch(cache.state, operations, now, reserves);
    failpoint("decided");
    // Only the database knows whether a reserve's lease has expired.
    if (results.some(({ kind }) => kind === "contended")) return null;
    // A result without a write is not verified against the versions, so it must not come from the cache.
    if (!operations.every(({ accountId }) => changes.accountIds.has(accountId))) return null;
    const endedClaims = listEndedClaims(batch, results);
    try {
      cache.keep(changes, await writeChanges(run, changes, { state: cache.state, endedClaims }));
      reserves.keep(changes, startedMs);
      return results;
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (isOutdated(error)) lockFirst(changes.exactAccountIds);
      // Otherwise most likely a repeated id; the locked path finds its result.
    }
    cache.forget(listAccounts(batch));
    return null;
  }

  function lockFirst(accountIds: Iterable<AccountId>): void {
    if (pessimisticFor.size > accountsMax) pessimisticFor.clear();
    for (const accountId of accountIds) pessimisticFor.set(accountId, pessimisticBatches);
  }

  async function commitLocked(batch: readonly Submitted[], isSecondTry = false): Promise<Result[]> {
    const now = clock.now();
    const startedMs = performance.now();
    const operations = batch.map(({ operation }) => operation);
    try {
      const { results, changes, state } = await dependencies.database.transaction().execute(async (tx) => {
        await lockClaims(
          tx,
          batch.flatMap(({ conclusion }) => conclusion?.claim ?? []),
        );
        return await decideWithin(tx, operations, {
          ...{ now, failpoint, early: reserves },
          listEndedClaims: (decided) => listEndedClaims(batch, decided),
        });
      });
      cache.add(state);
      cache.keep(changes, null);
      reserves.keep(changes, startedMs);
      return results;
    } catch (error) {
      if (isSecondTry || !isUniqueViolation(error)) throw error;
      // Another process used an id for another account concurrently; the second try finds it.
      return await commitLocked(batch, true);
    }
  }

  return {
    submit: (operation, conclusion, span) => coalescer.submit(describeSubmission(operation, conclusion, span)),
    cache: cache.state,
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
