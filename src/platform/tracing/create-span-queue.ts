import { setTimeout as wait } from "node:timers/promises";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";

export type SpanQueueOptions = {
  /** The collector's base URL, without `/v1/traces`. Set by the operator, so no SSRF guard. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  /** Batching delay. */
  delayMs: number;
  /** Called once when spans start to be lost, with the total since the start. */
  onLoss(error: unknown, lost: number): void;
  /** Called once when exports succeed again. */
  onRecovery(lost: number): void;
};

export type SpanQueue = {
  add(span: ReadableSpan): void;
  /** Exports the rest, with a timeout. */
  close(): Promise<void>;
};

/** About 8 MB of spans. */
const spansMax = 4096;
const batchMax = 512;
/** Includes the exporter's retries. */
const exportTimeoutMs = 5000;
const closeTimeoutMs = 2000;

/**
 * Exports ended spans in the background. Spans that the collector does not accept in time are dropped and counted. The
 * SDK's processor drops overflow silently, so the queue length is checked here first.
 */
export function createSpanQueue({ endpoint, headers, delayMs, onLoss, onRecovery }: SpanQueueOptions): SpanQueue {
  const otlp = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: exportTimeoutMs });
  let queued = 0;
  let underWay = 0;
  let lost = 0;
  let isDropping = false;

  function countLost(count: number, error: unknown): void {
    lost += count;
    if (!isDropping) onLoss(error, lost);
    isDropping = true;
  }

  const exporter: SpanExporter = {
    export(spans, onResult) {
      queued -= spans.length;
      underWay += spans.length;
      otlp.export(spans, (result) => {
        underWay -= spans.length;
        // The SDK's code for success.
        if (result.code !== 0) countLost(spans.length, result.error);
        else if (isDropping) {
          isDropping = false;
          onRecovery(lost);
        }
        onResult(result);
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
        countLost(1, new Error("the span queue is full"));
        return;
      }
      queued += 1;
      batches.onEnd(span);
    },
    async close() {
      const ended = new AbortController();
      // The exporter has already reported failures.
      const flushed = batches.shutdown().catch(() => {});
      await Promise.race([flushed, wait(closeTimeoutMs, undefined, { signal: ended.signal }).catch(() => {})]);
      ended.abort();
      const left = queued + underWay;
      if (left > 0) countLost(left, new Error("the last spans were not exported in time"));
    },
  };
}
