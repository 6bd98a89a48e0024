/**
 * A trace span. Without a collector or sampling it is `null`: `span?.start(…)` then costs one comparison and does not
 * evaluate its arguments. Spans are passed as arguments, without a context manager.
 */
export type Span = {
  /** `00-<trace id>-<span id>-01`. */
  readonly traceparent: string;
  readonly traceId: string;
  /** Starts a child span. */
  start(name: string, options?: SpanOptions): Span;
  set(attributes: SpanAttributes): void;
  addEvent(name: string): void;
  /** Ends and exports the span. Later calls are ignored. A span that never ends is never exported. */
  end(failure?: SpanFailure | null): void;
};

/** Never callers' texts, keys or secrets: spans leave the gateway. Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export type SpanOptions = {
  /** The default is `internal`. */
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  attributes?: SpanAttributes;
};

export type NamedSpan = SpanOptions & { name: string };

/** A low-cardinality error code. */
export type SpanFailure = { errorType: string };

export type Tracing = {
  /**
   * The span of an incoming request, in the caller's trace if callers are trusted; `null` if not sampled. `describe` runs
   * only for sampled requests.
   */
  receive(traceparent: unknown, describe: () => NamedSpan | null): Span | null;
  /** Continues a stored trace, possibly of another process. */
  resume(traceparent: string, name: string, options?: SpanOptions): Span;
  /**
   * A root span for work shared by several spans, such as a batch, linked in both directions; `null` if none of them is
   * traced.
   */
  share(name: string, spans: Iterable<Span | null>, options?: SpanOptions): Span | null;
  /** Exports the rest, with a timeout. */
  close(): Promise<void>;
};
