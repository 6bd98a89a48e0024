import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { FailedAttempt } from "../../platform/http/request-context.ts";

/** How a call ended: its answer was given whole, or the caller left, or the answer broke off after it had begun. */
export const requestEndings = ["answered", "refused", "failed", "hung_up", "broken_off"] as const;
export type RequestEnding = (typeof requestEndings)[number];

/** One call of an account, as the request log has it. */
export type RequestRecord = {
  /** The `x-request-id` of its answer, which begins with the time. */
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

/** Which upstream a call went to. For operators only, so that no record that customers read has it. */
export type RequestRouting = {
  /** The one that answered, or was asked last; `null` where none was asked. */
  upstream: string | null;
  failedAttempts: readonly FailedAttempt[];
};

/** A call as it is written; most endpoints ask no upstream. */
export type LoggedRequest = RequestRecord & Partial<RequestRouting>;

/** A call as operators see it. */
export type ShownRequest = RequestRecord & RequestRouting;

/** Requests of an account that were made and are not in the log. */
export type RequestGap = { accountId: AccountId; from: Date; to: Date; lost: number };

/** Where a caller hung up before the answer began, nothing was answered; the field's own number for that. */
export const hungUpStatus = 499;

/** What became of a call, from what is known of its answer. */
export function decideEnding(end: { status: number; isAborted: boolean; hasFailed: boolean }): RequestEnding {
  const { status, isAborted, hasFailed } = end;
  if (isAborted && !hasFailed) return "hung_up";
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return hasFailed ? "broken_off" : "answered";
}
