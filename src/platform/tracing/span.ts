/**
 * What is told of a request's way through the gateway, for operators. Where nothing is traced (no collector is set, or
 * the request is not sampled) there is no span but `null`: `span?.start(…)` then costs a comparison, and its arguments
 * are not even made. Contexts are handed on as arguments, like everything else here.
 */
export type Span = {
  /** What this span is called by others: `00-<trace id>-<span id>-01`. */
  readonly traceparent: string;
  readonly traceId: string;
  /** A piece of work within this one. */
  start(name: string, options?: SpanOptions): Span;
  set(attributes: SpanAttributes): void;
  /** Something that happens at this moment. */
  addEvent(name: string): void;
  /** Ends it, which has it exported. Its first end is the one that counts. One that never ends is never told of. */
  end(failure?: SpanFailure | null): void;
};

/** Never a text of callers, a key or a secret: spans leave the gateway. A value that is absent is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export type SpanOptions = {
  /** `internal` without it. */
  kind?: "internal" | "server" | "client" | "producer" | "consumer";
  attributes?: SpanAttributes;
};

export type NamedSpan = SpanOptions & { name: string };

/** Why something failed: a code, as few different ones as possible. */
export type SpanFailure = { errorType: string };

export type Tracing = {
  /**
   * The span of a request from outside, in its caller's trace where callers are trusted; `null` where it is not sampled,
   * which most are not. Only one that is sampled is described.
   */
  receive(traceparent: unknown, describe: () => NamedSpan | null): Span | null;
  /** A span of work whose beginning was kept, by whichever process that was. */
  resume(traceparent: string, name: string, options?: SpanOptions): Span;
  /**
   * A span of its own for what is done once for many. It has links to their spans, and they to it; `null` where none of
   * them is traced.
   */
  share(name: string, spans: Iterable<Span | null>, options?: SpanOptions): Span | null;
  /** Sends what is left, for a while, and ends. */
  close(): Promise<void>;
};
