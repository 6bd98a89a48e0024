import {
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
} from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { IdGenerator, ReadableSpan, TimedEvent } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../lib/clock.ts";
import type { Span, SpanAttributes, SpanFailure, SpanOptions } from "./span.ts";
import { presentTraceparent } from "./traceparent.ts";

export type SharedContext = {
  clock: Clock;
  ids: IdGenerator;
  resource: Resource;
  onEnd(span: ReadableSpan): void;
};

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<NonNullable<SpanOptions["kind"]>, SpanKind>;

const scope = { name: "sluice" };
const unset = { code: SpanStatusCode.UNSET };
const failed = { code: SpanStatusCode.ERROR };
const sampled = 1;

/**
 * A span for OpenTelemetry's exporter. The SDK's own span copies every attribute several times and calls a context
 * manager and a sampler, which was nearly half of the cost of a traced call.
 */
export class TracedSpan implements Span, ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  endTime: HrTime = [0, 0];
  status = unset;
  readonly attributes: Attributes = {};
  links: Link[];
  events: TimedEvent[] = [];
  ended = false;
  readonly resource: Resource;
  readonly instrumentationScope = scope;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  private readonly shared: SharedContext;
  private readonly context: SpanContext;
  /** Offset of the monotonic clock, shared by all spans of a tree so that none ends before it began. */
  private readonly originMs: number;

  /** Positional arguments save an object per span. */
  constructor(shared: SharedContext, name: string, parent: Parent, options: SpanOptions, links: Link[] = []) {
    const { kind = "internal", attributes } = options;
    const isLocal = parent instanceof TracedSpan;
    const parentContext = isLocal ? parent.context : parent;
    const traceId = parentContext?.traceId ?? shared.ids.generateTraceId();
    this.shared = shared;
    this.name = name;
    this.kind = kinds[kind];
    this.context = { traceId, spanId: shared.ids.generateSpanId(), traceFlags: sampled };
    if (parentContext !== null) this.parentSpanContext = parentContext;
    this.originMs = isLocal ? parent.originMs : shared.clock.now().getTime() - shared.clock.monotonicMs();
    this.startTime = this.readTime();
    this.links = links;
    this.resource = shared.resource;
    if (attributes !== undefined) this.set(attributes);
  }

  spanContext(): SpanContext {
    return this.context;
  }

  get duration(): HrTime {
    const [seconds, nanos] = this.endTime;
    const [startSeconds, startNanos] = this.startTime;
    const isBorrowed = nanos < startNanos;
    return [seconds - startSeconds - (isBorrowed ? 1 : 0), nanos - startNanos + (isBorrowed ? 1_000_000_000 : 0)];
  }

  get traceId(): string {
    return this.context.traceId;
  }

  get traceparent(): string {
    return presentTraceparent(this.context);
  }

  start(name: string, options: SpanOptions = {}): Span {
    return new TracedSpan(this.shared, name, this, options);
  }

  set(attributes: SpanAttributes): void {
    for (const name in attributes) {
      const value = attributes[name];
      if (value !== undefined) this.attributes[name] = typeof value === "object" ? [...value] : value;
    }
  }

  addEvent(name: string): void {
    this.events.push({ name, time: this.readTime() });
  }

  addLink(span: TracedSpan): void {
    this.links.push({ context: span.context });
  }

  end(failure: SpanFailure | null = null): void {
    if (this.ended) return;
    if (failure !== null) {
      this.attributes["error.type"] = failure.errorType;
      this.status = failed;
    }
    this.endTime = this.readTime();
    this.ended = true;
    this.shared.onEnd(this);
  }

  private readTime(): HrTime {
    const ms = this.originMs + this.shared.clock.monotonicMs();
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
  }
}

/** A span of this or another process; `null` for a root. */
type Parent = TracedSpan | SpanContext | null;
