import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { FailedAttempt } from "../../platform/http/request-context.ts";

/** `hung_up`: the client disconnected. `broken_off`: the response failed after it had started. */
export const requestEndings = ["answered", "refused", "failed", "hung_up", "broken_off"] as const;
export type RequestEnding = (typeof requestEndings)[number];

/** What the response said about a failed call. */
export type RequestError = { message: string; param: string | null };

/** A call in the request log. */
export type RequestRecord = {
  /** The response's `x-request-id`, which starts with its time. */
  id: string;
  createdAt: Date;
  accountId: AccountId;
  keyId: KeyId;
  clientRequestId: string | null;
  wire: string | null;
  method: string;
  route: string | null;
  model: string | null;
  status: number;
  errorCode: string | null;
  ending: RequestEnding;
  durationMs: number;
  firstTokenMs: number | null;
  inputTokens: number | null;
  cachedInputTokens: number | null;
  cacheWriteTokens: number | null;
  outputTokens: number | null;
  reasoningTokens: number | null;
  audioInputTokens: number | null;
  audioOutputTokens: number | null;
  charge: Nano | null;
  chargeId: string | null;
  taskId: string | null;
  userAgent: string | null;
  isReplayed: boolean;
};

/** The upstream of a call. Separate from the record, because only operators may see it. */
type RequestRouting = {
  /** The upstream that responded, or the last one tried; `null` if none was called. */
  upstream: string | null;
  /** The id that this upstream gave the request. */
  upstreamRequestId: string | null;
  failedAttempts: readonly FailedAttempt[];
};

/** A call as written; most call no upstream, and only failed ones have an error. */
export type LoggedRequest = RequestRecord & Partial<RequestRouting> & { error?: RequestError | null };

/** A call as read. */
export type ReadRequest = RequestRecord & { error: RequestError | null };

/** A call as operators see it. */
export type ShownRequest = ReadRequest & RequestRouting;

/** Calls of an account that are missing in the log. */
export type RequestGap = { accountId: AccountId; from: Date; to: Date; lost: number };

/** nginx's status for a client that disconnected before the response. */
export const clientClosedStatus = 499;

export function decideEnding(end: { status: number; isAborted: boolean; hasFailed: boolean }): RequestEnding {
  const { status, isAborted, hasFailed } = end;
  if (isAborted && !hasFailed) return "hung_up";
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return hasFailed ? "broken_off" : "answered";
}
