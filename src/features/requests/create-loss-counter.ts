import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import type { RequestGap, RequestRecord } from "./request-record.ts";
import { insertGaps } from "./request-store.ts";

type LossCounterOptions = {
  database: Database;
  ids: IdSource;
  logger: Logger;
  metrics: Pick<Metrics, "requestLogLost">;
  /** Beyond this many accounts, losses are counted in the metric but not per account. */
  accountsMax: number;
};

/** Counts calls lost from the request log, per account and period. */
export type LossCounter = {
  add(record: RequestRecord): void;
  /** Writes the losses as gaps of the log. If that fails, the next call retries. */
  report(): Promise<void>;
};

export function createLossCounter(options: LossCounterOptions): LossCounter {
  const { database, ids, logger, metrics, accountsMax } = options;
  const gaps = new Map<AccountId, RequestGap>();

  return {
    add({ accountId, createdAt }) {
      metrics.requestLogLost.at().add(1);
      if (gaps.has(accountId) || gaps.size < accountsMax) {
        addGap(gaps, { accountId, from: createdAt, to: createdAt, lost: 1 });
      }
    },
    async report() {
      if (gaps.size === 0) return;
      const reported = [...gaps.values()];
      gaps.clear();
      try {
        await insertGaps(database, reported, () => ids.next("req"));
        const lost = reported.reduce((sum, gap) => sum + gap.lost, 0);
        logger.error({ lost, accounts: reported.length }, "request log entries lost");
      } catch (error) {
        for (const gap of reported) addGap(gaps, gap);
        throw error;
      }
    },
  };
}

function addGap(gaps: Map<AccountId, RequestGap>, { accountId, from, to, lost }: RequestGap): void {
  const other = gaps.get(accountId);
  gaps.set(accountId, {
    accountId,
    from: other !== undefined && other.from < from ? other.from : from,
    to: other !== undefined && other.to > to ? other.to : to,
    lost: lost + (other?.lost ?? 0),
  });
}
