/** The W3C Trace Context header `traceparent`. */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const nothing = /^0+$/;
const sampledFlag = 1;

/** `null` if invalid. Later versions may append fields. */
export function parseTraceparent(value: unknown): TraceParent | null {
  const match = typeof value === "string" ? pattern.exec(value) : null;
  if (match === null) return null;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (nothing.test(traceId) || nothing.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

/** Always sampled: unsampled spans do not exist. */
export function presentTraceparent({ traceId, spanId }: Pick<TraceParent, "traceId" | "spanId">): string {
  return `00-${traceId}-${spanId}-01`;
}
