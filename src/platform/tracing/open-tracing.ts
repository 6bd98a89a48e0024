import { TraceFlags } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { RandomIdGenerator } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../lib/clock.ts";
import type { Sampler } from "./create-sampler.ts";
import { createSpanQueue, type SpanQueueOptions } from "./create-span-queue.ts";
import type { Tracing } from "./span.ts";
import { TracedSpan } from "./traced-span.ts";
import { parseTraceparent, type TraceParent } from "./traceparent.ts";

type TracingOptions = SpanQueueOptions & {
  clock: Clock;
  sampler: Sampler;
  /** Resource attributes such as `service.name`. */
  resource: Record<string, string>;
};

/** Maximum links of a shared span; its attributes contain the actual number. */
const linksMax = 128;

/** Traces by OTLP. Loaded only if a collector is set. */
export function openTracing({ clock, sampler, resource, ...queue }: TracingOptions): Tracing {
  const spans = createSpanQueue(queue);
  const shared = {
    ...{ clock, onEnd: spans.add },
    ids: new RandomIdGenerator(),
    resource: resourceFromAttributes(resource),
  };
  return {
    receive(traceparent, describe) {
      const caller = parseTraceparent(traceparent);
      const described = sampler.isSampled(caller) ? describe() : null;
      if (described === null) return null;
      const parent = caller === null ? null : toContext(caller);
      if (parent === null || sampler.trustsCallers) return new TracedSpan(shared, described.name, parent, described);
      return new TracedSpan(shared, described.name, null, described, [{ context: parent }]);
    },
    resume(traceparent, name, options = {}) {
      const begun = parseTraceparent(traceparent);
      return new TracedSpan(shared, name, begun === null ? null : toContext(begun), options);
    },
    share(name, sharing, options = {}) {
      const traced: TracedSpan[] = [];
      for (const span of sharing) if (span instanceof TracedSpan && traced.length < linksMax) traced.push(span);
      if (traced.length === 0) return null;
      const links = traced.map((span) => ({ context: span.spanContext() }));
      const one = new TracedSpan(shared, name, null, options, links);
      for (const span of traced) span.addLink(one);
      return one;
    },
    close: () => spans.close(),
  };
}

function toContext({ traceId, spanId }: TraceParent) {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
