import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import { createOutageLog } from "../../platform/observability/outage-log.ts";
import type { RequestGap, RequestRecord } from "./request-record.ts";
import { insertGaps, insertRequests } from "./request-store.ts";

export type RequestLog = {
  /** Takes a call into the log. Never throws and never waits: what is too much is lost, counted, and told as a gap. */
  note(record: RequestRecord): void;
  /** Writes what was noted last. */
  close(): Promise<void>;
};

type RequestLogOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Pick<Metrics, "requestLogWritten" | "requestLogLost">;
  /** Told of the account of each call that is written. */
  onWritten?(accountId: AccountId): void;
  limits?: Partial<typeof requestLogLimits>;
};

const requestLogLimits = {
  /** How long a call waits for others: somebody may look for it already. */
  gatherMs: 200,
  batchMax: 500,
  /** About 20 MB of calls. */
  waitingMax: 20_000,
  /** Of more accounts at once, what is lost is counted, but not told to each. */
  gapAccountsMax: 10_000,
};

/**
 * The request log's writer: calls wait in memory for a moment and are written together. While the database is away they
 * wait, up to a bound; what comes then is lost. Of what is lost it is remembered whose it was and when, and written once
 * the database is back.
 */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, clock, ids, logger, metrics } = options;
  const limits = { ...requestLogLimits, ...options.limits };
  const gaps = new Map<AccountId, RequestGap>();
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "the request log cannot be written; calls wait in memory",
    ends: "the request log is written again",
  });
  let isClosing = false;
  let isSentAgain = false;

  function lose({ accountId, createdAt }: RequestRecord): void {
    metrics.requestLogLost.at().add(1);
    const known = gaps.get(accountId);
    if (known === undefined) {
      if (gaps.size < limits.gapAccountsMax)
        gaps.set(accountId, { accountId, from: createdAt, to: createdAt, lost: 1 });
      return;
    }
    known.lost += 1;
    if (createdAt < known.from) known.from = createdAt;
    if (createdAt > known.to) known.to = createdAt;
  }

  /** Tells those of their loss who had one. What cannot be told now is told with the next batch. */
  async function tellGaps(): Promise<void> {
    if (gaps.size === 0) return;
    const told = [...gaps.values()];
    gaps.clear();
    try {
      await insertGaps(database, told, () => ids.next("req"));
      const lost = told.reduce((sum, gap) => sum + gap.lost, 0);
      logger.error({ lost, accounts: told.length }, "calls were lost from the request log");
    } catch (error) {
      for (const gap of told) mergeGap(gaps, gap);
      throw error;
    }
  }

  const writer = createCoalescer<RequestRecord, void>({
    ...{ batchMax: limits.batchMax, waitingMax: limits.waitingMax },
    gather: (hurry) => wait(limits.gatherMs, undefined, { signal: hurry }).catch(() => {}),
    async run(records) {
      await insertRequests(database, records, { isSentAgain });
      isSentAgain = false;
      metrics.requestLogWritten.at().add(records.length);
      for (const { accountId } of records) options.onWritten?.(accountId);
      outage.onRecovery();
      // They are written; that they have gaps beside them is told later if need be.
      await tellGaps().catch((error: unknown) => outage.onTrouble(error));
      return [];
    },
    judge(failure) {
      outage.onTrouble(failure);
      isSentAgain = true;
      if (!isDatabaseUnavailable(failure)) return "alone";
      return isClosing ? new Error("the gateway stops") : "again";
    },
  });

  return {
    note(record) {
      writer.submit(record).catch(() => lose(record));
    },
    async close() {
      isClosing = true;
      await writer.close();
      await tellGaps().catch((error: unknown) => logger.error({ error }, "calls were lost from the request log"));
    },
  };
}

function mergeGap(gaps: Map<AccountId, RequestGap>, { accountId, from, to, lost }: RequestGap): void {
  const other = gaps.get(accountId);
  gaps.set(accountId, {
    accountId,
    from: other !== undefined && other.from < from ? other.from : from,
    to: other !== undefined && other.to > to ? other.to : to,
    lost: lost + (other?.lost ?? 0),
  });
}
