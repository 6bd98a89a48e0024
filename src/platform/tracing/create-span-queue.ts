import { setTimeout as wait } from "node:timers/promises";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";

export type SpanQueueOptions = {
  /** The collector's address, up to where `/v1/traces` follows. It is the operator's own: no SSRF guard is between. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  /** How long spans wait for others. */
  delayMs: number;
  /** Told when spans begin to be lost, not of each of them, with how many were lost since the start. */
  onLoss(error: unknown, lost: number): void;
  /** Told when they are taken again. */
  onRecovery(lost: number): void;
};

export type SpanQueue = {
  add(span: ReadableSpan): void;
  /** Sends what is left, for a while. */
  close(): Promise<void>;
};

/** About 8 MB of spans. */
const spansMax = 4096;
const batchMax = 512;
/** With all of the exporter's own retries. */
const exportTimeoutMs = 5000;
const closeTimeoutMs = 2000;

/**
 * Ended spans on their way to the collector. Nobody waits for it: what it does not take in time is lost, and counted.
 * The SDK's own processor would drop what is too much without a word, so that is decided before.
 */
export function createSpanQueue({ endpoint, headers, delayMs, onLoss, onRecovery }: SpanQueueOptions): SpanQueue {
  const otlp = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: exportTimeoutMs });
  let queued = 0;
  let underWay = 0;
  let lost = 0;
  let isLosing = false;

  function lose(count: number, error: unknown): void {
    lost += count;
    if (!isLosing) onLoss(error, lost);
    isLosing = true;
  }

  const exporter: SpanExporter = {
    export(spans, tell) {
      queued -= spans.length;
      underWay += spans.length;
      otlp.export(spans, (result) => {
        underWay -= spans.length;
        // The SDK's number for success.
        if (result.code !== 0) lose(spans.length, result.error);
        else if (isLosing) {
          isLosing = false;
          onRecovery(lost);
        }
        tell(result);
      });
    },
    forceFlush: () => otlp.forceFlush(),
    shutdown: () => otlp.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    ...{ exporter, maxQueueSize: spansMax, maxExportBatchSize: batchMax },
    ...{ scheduledDelayMillis: delayMs, exportTimeoutMillis: 2 * exportTimeoutMs },
  });

  return {
    add(span) {
      if (queued >= spansMax) {
        lose(1, new Error("The queue of spans is full."));
        return;
      }
      queued += 1;
      batches.onEnd(span);
    },
    async close() {
      const ended = new AbortController();
      // What could not be sent has been told by the exporter.
      const flushed = batches.shutdown().catch(() => {});
      await Promise.race([flushed, wait(closeTimeoutMs, undefined, { signal: ended.signal }).catch(() => {})]);
      ended.abort();
      const left = queued + underWay;
      if (left > 0) lose(left, new Error("The collector did not take the last spans in time."));
    },
  };
}
