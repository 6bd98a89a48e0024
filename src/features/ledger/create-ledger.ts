import { setTimeout as wait } from "node:timers/promises";
import type { KeyBudget } from "../../lib/budget.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Database, DatabaseAddress } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { createSession } from "../../platform/database/session.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createMetrics, type Metrics } from "../../platform/observability/metrics.ts";
import type { Span, Tracing } from "../../platform/tracing/span.ts";
import { checkOperation } from "./check-operation.ts";
import type { Failpoint } from "./decide-within.ts";
import { estimateSpendable } from "./estimate-spendable.ts";
import { createContended } from "./explain-refused-hold.ts";
import { type Conclusion, createGroupCommit } from "./group-commit.ts";
import { endReserve } from "./ledger-store.ts";
import type { Operation, ResultOf } from "./operation.ts";
import { createReserves } from "./reserves.ts";
import { reserveLeaseMs } from "./written-rows.ts";

export type Ledger = {
  /**
   * Applies an operation in the next group commit and resolves once it is durable. Its idempotency claim ends in the same
   * transaction. The span is linked to the commit's.
   */
  apply<O extends Operation>(
    operation: O,
    conclusion?: ConclusionOf<O> | null,
    span?: Span | null,
  ): Promise<ResultOf<O>>;
  /** The spendable money by this process's cache; `null` if the account is not cached. */
  estimateSpendable(accountId: AccountId, budget: KeyBudget | null): Nano | null;
  /**
   * Whether a call may start before its hold is written, because its money is reserved against all processes. If so, pass
   * the amount as `early` with the hold, and call `endEarly` once the hold is written, refused or given up.
   */
  beginEarly(accountId: AccountId, amount: Nano): boolean;
  /** Whether much of the reserve is unused, so that an early call may write its hold later, or with its charge. */
  hasAmpleReserve(accountId: AccountId): boolean;
  endEarly(accountId: AccountId, amount: Nano): void;
  /** Throws if the ledger cannot commit at the moment. Writes nothing. */
  check(): Promise<void>;
  /** Drains pending operations first. */
  close(): Promise<void>;
};

export type ConclusionOf<O extends Operation> = Omit<Conclusion, "describe"> & {
  describe(result: ResultOf<O>): ReturnType<Conclusion["describe"]>;
};

type LedgerMetrics = Pick<
  Metrics,
  "ledgerQueueLength" | "ledgerQueueAge" | "ledgerBatchSize" | "ledgerCommitDuration" | "ledgerFailedCommits"
>;

type LedgerOptions = {
  database: Database;
  address: DatabaseAddress;
  clock: Clock;
  /** Called when a commit finds the database unavailable, and `onRecovery` for each successful commit. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
  /** Called for each committed operation. */
  onBooked?(accountId: AccountId): void;
  metrics?: LedgerMetrics;
  failpoint?: Failpoint;
  /** Aborts waiting for the database. */
  abandoned?: AbortSignal;
  tracing?: Tracing | null;
};

export function createLedger(options: LedgerOptions): Ledger {
  const {
    database,
    address,
    clock,
    onTrouble,
    failpoint = () => {},
    abandoned = new AbortController().signal,
  } = options;
  const { onRecovery = () => {}, onBooked = () => {}, metrics = createMetrics(), tracing = null } = options;
  const session = createSession(address, abandoned);
  const reserves = createReserves();
  const observers = { onTrouble, onRecovery, onBooked, metrics, tracing };
  const groupCommit = createGroupCommit({ database, session, reserves, clock, failpoint, abandoned, ...observers });
  metrics.ledgerQueueLength.observe(() => [[groupCommit.length()]]);
  metrics.ledgerQueueAge.observe(() => [[groupCommit.oldestMs() / 1000]]);

  /** Retries while only another process's reserve blocks the operation: it was revoked, and ends soon. */
  async function applyPatiently(operation: Operation, span: Span | null): Promise<ResultOf<Operation>> {
    const startedMs = performance.now();
    for (;;) {
      const result = await groupCommit.submit(operation, null, span);
      if (result.kind !== "contended") return result;
      if (performance.now() - startedMs > contendedMsMax) throw createContended();
      await wait(databaseLimits.retryMs);
    }
  }

  const stopEnding = repeat(idleEveryMs, () => {
    // If this fails, the lease expires.
    for (const idle of reserves.takeIdle()) endReserve(database, idle).catch(() => {});
  });

  return {
    // Not async: that would allocate one more promise per operation.
    apply<O extends Operation>(operation: O, conclusion: ConclusionOf<O> | null = null, span: Span | null = null) {
      try {
        checkOperation(operation, clock.now());
        return (
          canContend(operation)
            ? applyPatiently(operation, span)
            : groupCommit.submit(operation, conclusion as Conclusion | null, span)
        ) as Promise<ResultOf<O>>;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    estimateSpendable: (accountId, budget) =>
      estimateSpendable(groupCommit.cache, accountId, { budget, now: clock.now() }),
    beginEarly(accountId, amount) {
      // Ignore credit that expires before the hold can be written.
      const now = new Date(clock.now().getTime() + 2 * reserveLeaseMs);
      return reserves.begin(accountId, amount, estimateSpendable(groupCommit.cache, accountId, { budget: null, now }));
    },
    hasAmpleReserve: reserves.isAmple,
    endEarly: reserves.end,
    async check() {
      const waitedMs = groupCommit.oldestMs();
      if (waitedMs > databaseLimits.ledgerAgeMsMax) throw createBehind();
      await session.ping();
    },
    async close() {
      stopEnding();
      await groupCommit.drain();
      await session.close();
    },
  };
}

/** Longer than an idle process keeps its reserve. */
const contendedMsMax = 6000;
const idleEveryMs = 1000;

/** Operations that take money which another process may have reserved. They end no claim. */
function canContend(operation: Operation): boolean {
  return operation.kind === "extend" || (operation.kind === "hold" && operation.early === undefined);
}

function createBehind(): AppError {
  return new AppError("overloaded", "Payments take too long to be recorded.");
}
