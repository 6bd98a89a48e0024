import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { createCoalescer } from "../../lib/coalescer.ts";
import type { AccountId, IdSource } from "../../lib/ids.ts";
import { type Database, isDatabaseUnavailable } from "../../platform/database/database.ts";
import { type ContentTap, releaseTap } from "../../platform/http/tap-content.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Metrics } from "../../platform/observability/metrics.ts";
import { createOutageLog } from "../../platform/observability/outage-log.ts";
import type { ContentRecord } from "./content/content-store.ts";
import type { StoredContent } from "./content/request-content.ts";
import type { ContentSeal } from "./content/seal-content.ts";
import { createLossCounter } from "./create-loss-counter.ts";
import type { BlockRecord } from "./request-block.ts";
import type { LoggedRequest } from "./request-record.ts";
import { insertRequests } from "./request-store.ts";

export type RequestLog = {
  /**
   * Queues a call for the log, with its bodies if the content log is on. Never throws or waits: calls beyond the limits are
   * dropped, counted, and reported as a gap.
   */
  note(record: LoggedRequest, content?: ContentTap | null): void;
  /** Adds the tokens and charge to a call that was noted before they were known. */
  amend(record: LoggedRequest): void;
  /** Writes what is still queued. */
  close(): Promise<void>;
};

type RequestLogOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Pick<Metrics, "requestLogWritten" | "requestLogLost">;
  /** Absent if no content is stored. */
  contentSeal?: Pick<ContentSeal, "seal">;
  /** Called with the account of each written call. */
  onWritten?(accountId: AccountId): void;
  limits?: Partial<typeof requestLogLimits>;
};

const requestLogLimits = {
  /** How long a batch gathers: short, because users look for their calls at once. */
  gatherMs: 200,
  batchMax: 500,
  /** About 20 MB of calls. */
  waitingMax: 20_000,
  gapAccountsMax: 10_000,
  /** Bounds a batch's bodies, so that other calls do not wait long. */
  batchContentBytesMax: 4 * 1024 * 1024,
};

/** A call in the queue. */
type NotedRequest = {
  record: BlockRecord;
  content: ContentTap | null;
  /** The sealed content, once it is computed. */
  stored: StoredContent | null;
  /** The last attempt's commit was not acknowledged, so the rows may exist. */
  isSentAgain: boolean;
};

/**
 * The request log's writer: queues calls in memory and writes them in batches. During a database outage the queue grows
 * up to a bound; calls beyond it are dropped. Once the database is back, the log
 * records their number per account and period.
 */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, clock, ids, logger, metrics, contentSeal } = options;
  const limits = { ...requestLogLimits, ...options.limits };
  const losses = createLossCounter({ database, ids, logger, metrics, accountsMax: limits.gapAccountsMax });
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "request log not writable, calls queued in memory",
    ends: "request log writable again",
  });
  let isClosing = false;

  async function write(batch: readonly NotedRequest[]): Promise<void> {
    const contents: ContentRecord[] = [];
    for (const one of batch) {
      if (one.content === null) continue;
      one.stored ??= await sealContent({ contentSeal, logger }, one.record, one.content);
      contents.push({ ...one.record, ...one.stored });
    }
    const isSentAgain = batch.some((one) => one.isSentAgain);
    const records = batch.map(({ record }) => record);
    await insertRequests(database, records, { isSentAgain, contents, nextId: () => ids.next("blk") });
    metrics.requestLogWritten.at().add(records.filter(({ isAmendment }) => isAmendment !== true).length);
  }

  const writer = createCoalescer<NotedRequest, void>({
    ...{ batchMax: limits.batchMax, waitingMax: limits.waitingMax },
    weight: { of: ({ content }) => countBytes(content), max: limits.batchContentBytesMax },
    gather: (hurry) => wait(limits.gatherMs, undefined, { signal: hurry }).catch(() => {}),
    async run(batch) {
      await write(batch);
      for (const { record, content } of batch) {
        options.onWritten?.(record.accountId);
        if (content !== null) releaseTap(content);
      }
      outage.onRecovery();
      // The batch is written; if the gaps cannot be written now, the next batch retries.
      await losses.report().catch((error: unknown) => outage.onTrouble(error));
      return [];
    },
    judge(failure, one) {
      outage.onTrouble(failure);
      one.isSentAgain = true;
      if (!isDatabaseUnavailable(failure)) return "alone";
      return isClosing ? new Error("the gateway is stopping") : "again";
    },
    onLost({ record, content }) {
      if (content !== null) releaseTap(content);
      // Of an amended call, only the link to its charge is lost: the call is in the log and the charge in the ledger.
      if (record.isAmendment !== true) losses.add(record);
    },
  });

  return {
    note(record, content = null) {
      writer.tell({ record, content, stored: null, isSentAgain: false });
    },
    amend(record) {
      writer.tell({ record: { ...record, isAmendment: true }, content: null, stored: null, isSentAgain: false });
    },
    async close() {
      isClosing = true;
      await writer.close();
      await losses.report().catch((error: unknown) => logger.error({ error }, "request log entries lost"));
    },
  };
}

/** A failure to seal content must not lose the call itself. */
async function sealContent(
  { contentSeal, logger }: { contentSeal: RequestLogOptions["contentSeal"] | undefined; logger: Logger },
  record: LoggedRequest,
  content: ContentTap,
): Promise<StoredContent> {
  try {
    if (contentSeal !== undefined) return await contentSeal.seal(record, content);
  } catch (error) {
    logger.error({ request_id: record.id, error }, "request content not sealed");
  }
  return { state: "lost", sealed: null };
}

function countBytes(content: ContentTap | null): number {
  if (content === null) return 0;
  return (content.request.excerpt?.heldBytes ?? 0) + (content.answer.excerpt?.heldBytes ?? 0);
}
