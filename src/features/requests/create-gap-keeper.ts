import type { AccountId, IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import type { RequestGap, RequestRecord } from "./request-record.ts";
import { insertGaps } from "./request-store.ts";

type GapOptions = {
  database: Database;
  ids: IdSource;
  logger: Logger;
  metrics: Pick<Metrics, "requestLogLost">;
  /** Of more accounts at once, what is lost is counted, but not told to each. */
  accountsMax: number;
};

/** Remembers of what is lost whose it was and when. */
export type GapKeeper = {
  lose(record: RequestRecord): void;
  /** Tells those of their loss who had one. What cannot be told now is told the next time. */
  tell(): Promise<void>;
};

export function createGapKeeper({ database, ids, logger, metrics, accountsMax }: GapOptions): GapKeeper {
  const gaps = new Map<AccountId, RequestGap>();

  return {
    lose({ accountId, createdAt }) {
      metrics.requestLogLost.at().add(1);
      if (gaps.has(accountId) || gaps.size < accountsMax) {
        addGap(gaps, { accountId, from: createdAt, to: createdAt, lost: 1 });
      }
    },
    async tell() {
      if (gaps.size === 0) return;
      const told = [...gaps.values()];
      gaps.clear();
      try {
        await insertGaps(database, told, () => ids.next("req"));
        const lost = told.reduce((sum, gap) => sum + gap.lost, 0);
        logger.error({ lost, accounts: told.length }, "calls were lost from the request log");
      } catch (error) {
        for (const gap of told) addGap(gaps, gap);
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
