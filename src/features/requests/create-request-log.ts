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
import { createGapKeeper } from "./create-gap-keeper.ts";
import type { LoggedRequest } from "./request-record.ts";
import { insertRequests, updateRequests } from "./request-store.ts";

export type RequestLog = {
  /**
   * Takes a call into the log, with its bodies where these are kept. Never throws and never waits: what is too much is
   * lost, counted, and told as a gap.
   */
  note(record: LoggedRequest, content?: ContentTap | null): void;
  /** Adds to a call that was noted what became known of it since: its tokens and its charge. */
  amend(record: LoggedRequest): void;
  /** Writes what was noted last. */
  close(): Promise<void>;
};

type RequestLogOptions = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Pick<Metrics, "requestLogWritten" | "requestLogLost">;
  /** Absent where no call has a content. */
  contentSeal?: Pick<ContentSeal, "seal">;
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
  gapAccountsMax: 10_000,
  /** What the bodies of a batch may take together, so that others do not wait for them for long. */
  batchContentBytesMax: 4 * 1024 * 1024,
};

/** A call that waits to be written. */
type NotedRequest = {
  record: LoggedRequest;
  /** It is in the log already, or was noted before. */
  isAmended: boolean;
  content: ContentTap | null;
  /** What its content is to the database, once that was made of it. */
  stored: StoredContent | null;
  /** Nobody heard whether it was written: it may be there already. */
  isSentAgain: boolean;
};

/**
 * The request log's writer: calls wait in memory for a moment and are written together. While the database is away they
 * wait, up to a bound; what comes then is lost. Of what is lost it is remembered whose it was and when, and written once
 * the database is back.
 */
export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, clock, ids, logger, metrics, contentSeal } = options;
  const limits = { ...requestLogLimits, ...options.limits };
  const gaps = createGapKeeper({ database, ids, logger, metrics, accountsMax: limits.gapAccountsMax });
  const outage = createOutageLog({
    ...{ logger, clock },
    begins: "the request log cannot be written; calls wait in memory",
    ends: "the request log is written again",
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
    const [known, records] = [listRecords(batch, true), listRecords(batch, false)];
    if (records.length > 0) await insertRequests(database, records, { isSentAgain, contents });
    if (known.length > 0) await updateRequests(database, known);
    metrics.requestLogWritten.at().add(records.length);
  }

  const writer = createCoalescer<NotedRequest, void>({
    ...{ batchMax: limits.batchMax, waitingMax: limits.waitingMax },
    weight: { of: ({ content }) => countBytes(content), max: limits.batchContentBytesMax },
    gather: (hurry) => wait(limits.gatherMs, undefined, { signal: hurry }).catch(() => {}),
    async run(batch) {
      await write(batch);
      for (const { record } of batch) options.onWritten?.(record.accountId);
      outage.onRecovery();
      // They are written; that they have gaps beside them is told later if need be.
      await gaps.tell().catch((error: unknown) => outage.onTrouble(error));
      return [];
    },
    judge(failure, one) {
      outage.onTrouble(failure);
      one.isSentAgain = true;
      if (!isDatabaseUnavailable(failure)) return "alone";
      return isClosing ? new Error("the gateway stops") : "again";
    },
  });

  return {
    note(record, content = null) {
      const written = writer.submit({ record, content, ...freshly }).catch(() => gaps.lose(record));
      if (content !== null) void written.finally(() => releaseTap(content));
    },
    amend(record) {
      // The call itself is in the log, and its charge in the ledger: no more than the way from one to the other is lost.
      writer.submit({ record, content: null, ...freshly, isAmended: true }).catch(() => {});
    },
    async close() {
      isClosing = true;
      await writer.close();
      await gaps.tell().catch((error: unknown) => logger.error({ error }, "calls were lost from the request log"));
    },
  };
}

const freshly = { isAmended: false, stored: null, isSentAgain: false };

function listRecords(batch: readonly NotedRequest[], isAmended: boolean): LoggedRequest[] {
  return batch.filter((one) => one.isAmended === isAmended).map(({ record }) => record);
}

/** What is wrong with a content must not cost the log the call. */
async function sealContent(
  { contentSeal, logger }: { contentSeal: RequestLogOptions["contentSeal"] | undefined; logger: Logger },
  record: LoggedRequest,
  content: ContentTap,
): Promise<StoredContent> {
  try {
    if (contentSeal !== undefined) return await contentSeal.seal(record, content);
  } catch (error) {
    logger.error({ request_id: record.id, error }, "the content of a request could not be sealed");
  }
  return { state: "lost", sealed: null };
}

function countBytes(content: ContentTap | null): number {
  if (content === null) return 0;
  return (content.request.excerpt?.heldBytes ?? 0) + (content.answer.excerpt?.heldBytes ?? 0);
}
