import { setTimeout as wait } from "node:timers/promises";
import type { KeyBudget } from "../../lib/budget.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { Database, DatabaseAddress } from "../../platform/database/database.ts";
import { databaseLimits } from "../../platform/database/database-limits.ts";
import { createSession } from "../../platform/database/session.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createMetrics, type Metrics } from "../../platform/observability/metrics.ts";
import type { Span, Tracing } from "../../platform/tracing/span.ts";
import { checkOperation } from "./check-operation.ts";
import type { ReachPoint } from "./decide-within.ts";
import { estimateSpendable } from "./estimate-spendable.ts";
import { createContended } from "./explain-refused-hold.ts";
import { type Conclusion, createGroupCommit } from "./group-commit.ts";
import { reserveLeaseMs } from "./ledger-rows.ts";
import { endReserve } from "./ledger-store.ts";
import type { Operation, ResultOf } from "./operation.ts";
import { createReserves } from "./reserves.ts";

export type Ledger = {
  /**
   * Applies an operation, together with whatever else is under way, and answers once it is durable. A claim that it
   * concludes ends with it, or neither happens. The span, where it is traced, is linked with those of its commits.
   */
  apply<O extends Operation>(
    operation: O,
    conclusion?: ConclusionOf<O> | null,
    span?: Span | null,
  ): Promise<ResultOf<O>>;
  /** How much money could be put on hold, by what this process remembers; `null` when it remembers nothing. */
  estimateSpendable(accountId: AccountId, budget: KeyBudget | null): Nano | null;
  /**
   * Whether a call may begin before its hold is written: whatever other processes do, the money for it will be there. Then
   * the hold carries it as `early`, and `endEarly` follows once the hold is written, refused or given up.
   */
  beginEarly(accountId: AccountId, amount: Nano): boolean;
  endEarly(accountId: AccountId, amount: Nano): void;
  /** Throws where payments cannot be recorded at the moment. Writes nothing. */
  check(): Promise<void>;
  /** Lets everything that was submitted end first. */
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
  /** Told of each try that did not reach the database, and of each that did. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
  /** Told of the account of each operation that is durable, once for each. */
  onBooked?(accountId: AccountId): void;
  metrics?: LedgerMetrics;
  reach?: ReachPoint;
  /** When it says so, nobody waits for the database any longer. */
  abandoned?: AbortSignal;
  tracing?: Tracing | null;
};

export function createLedger(options: LedgerOptions): Ledger {
  const { database, address, clock, onTrouble, reach = () => {}, abandoned = new AbortController().signal } = options;
  const { onRecovery = () => {}, onBooked = () => {}, metrics = createMetrics(), tracing = null } = options;
  const session = createSession(address, abandoned);
  const reserves = createReserves();
  const told = { onTrouble, onRecovery, onBooked, metrics, tracing };
  const groupCommit = createGroupCommit({ database, session, reserves, clock, reach, abandoned, ...told });
  metrics.ledgerQueueLength.observe(() => [[groupCommit.length()]]);
  metrics.ledgerQueueAge.observe(() => [[groupCommit.oldestMs() / 1000]]);

  /** Where only what another process has reserved stands in the way, that is over soon: it was revoked. */
  async function applyPatiently(operation: Operation, span: Span | null): Promise<ResultOf<Operation>> {
    const startedMs = performance.now();
    for (;;) {
      const result = await groupCommit.submit(operation, null, span);
      if (result.kind !== "contended") return result;
      if (performance.now() - startedMs > contendedMsMax) throw createContended();
      await wait(databaseLimits.retryMs);
    }
  }

  const idleTimer = setInterval(() => {
    // Where it cannot be written, the lease lapses.
    for (const idle of reserves.takeIdle()) endReserve(database, idle).catch(() => {});
  }, idleEveryMs).unref();

  return {
    // Not an async function: its promise would be one more for each operation.
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
      estimateSpendable(groupCommit.memory, accountId, { budget, now: clock.now() }),
    beginEarly(accountId, amount) {
      // What expires before a hold is written does not pay for it.
      const now = new Date(clock.now().getTime() + 2 * reserveLeaseMs);
      return reserves.begin(accountId, amount, estimateSpendable(groupCommit.memory, accountId, { budget: null, now }));
    },
    endEarly: reserves.end,
    async check() {
      const waitedMs = groupCommit.oldestMs();
      if (waitedMs > databaseLimits.ledgerAgeMsMax) throw createBehind();
      await session.ping();
    },
    async close() {
      clearInterval(idleTimer);
      await groupCommit.drain();
      await session.close();
    },
  };
}

/** Longer than an idle process keeps a reserve. */
const contendedMsMax = 6000;
const idleEveryMs = 1000;

/** Takes money that another process may have reserved. Ends no claim. */
function canContend(operation: Operation): boolean {
  return operation.kind === "extend" || (operation.kind === "hold" && operation.early === undefined);
}

function createBehind(): AppError {
  return new AppError("overloaded", "Payments wait too long to be recorded.");
}
