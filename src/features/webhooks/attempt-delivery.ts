import { type GuardedAnswer, GuardedFetchError } from "../../platform/net/guarded-client.ts";
import type { Span } from "../../platform/tracing/span.ts";
import { ensureAccountSecret } from "./account-secret.ts";
import { decideRetry, parseRetryAfter } from "./decide-retry.ts";
import type { Attempt, AttemptError } from "./delivery.ts";
import type { ClaimedDelivery, DeliveryResult, SealedSecrets } from "./delivery-queue-store.ts";
import type { SecretBox } from "./secret-box.ts";
import { signEvent } from "./sign-event.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { presentEvent } from "./webhook-event.ts";

export type AttemptOutcome = {
  result: DeliveryResult;
  /** The receiver answered 410: do not call it again. */
  isGone: boolean;
};

type Answer = { status: number | null; error: AttemptError | null; answer: string | null; retryAfter: string | null };

const answerBytesMax = 16 * 1024;
const keptBytesMax = 1024;
const goneStatus = 410;

/** Sends an event once and decides the next attempt. Returns `null` if it was aborted and the outcome is unknown. */
export async function attemptDelivery(
  dependencies: WebhookDependencies,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptOutcome | null> {
  const { clock } = dependencies;
  const startedMs = clock.monotonicMs();
  const attemptedAt = clock.now();
  const span = resumeEvent(dependencies, delivery);
  const answer = await send(dependencies, delivery, { sentAt: attemptedAt, signal, traceparent: span?.traceparent });
  if (answer === null) return null;
  span?.set({ "http.response.status_code": answer.status ?? undefined });
  span?.end(answer.error === null ? null : { errorType: answer.error });
  const attempt: Attempt = {
    number: delivery.attemptCount + 1,
    attemptedAt,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    status: answer.status,
    error: answer.error,
    answer: answer.answer,
  };
  const isGone = answer.status === goneStatus;
  return { result: { id: delivery.id, attempt, ...decideNext(dependencies, attempt, answer.retryAfter) }, isGone };
}

/** Continues the trace of the request that caused the event. Omits the URL, which may contain secrets. */
function resumeEvent({ tracing }: WebhookDependencies, { id, event, attemptCount }: ClaimedDelivery): Span | null {
  const { traceparent = null } = event;
  if (tracing === null || traceparent === null) return null;
  return tracing.resume(traceparent, "deliver webhook", {
    kind: "client",
    attributes: {
      "http.request.method": "POST",
      "sluice.event.id": event.id,
      "sluice.event.type": event.type,
      "sluice.delivery.id": id,
      "sluice.attempt.number": attemptCount + 1,
    },
  });
}

function decideNext(
  { clock, random }: WebhookDependencies,
  { number, status, error }: Attempt,
  retryAfter: string | null,
): Pick<DeliveryResult, "state" | "dueAt"> {
  if (error === null) return { state: "succeeded", dueAt: null };
  const now = clock.now();
  // 410 Gone: no retry.
  const dueAt =
    status === goneStatus
      ? null
      : decideRetry(number, { now, random: random(), retryAfterMs: parseRetryAfter(retryAfter, now) });
  return dueAt === null ? { state: "failed", dueAt } : { state: "pending", dueAt };
}

async function send(
  dependencies: WebhookDependencies,
  { event, url, endpointId, sealed }: ClaimedDelivery,
  { sentAt, signal, traceparent }: { sentAt: Date; signal: AbortSignal; traceparent: string | undefined },
): Promise<Answer | null> {
  const { client, secretBox, presentData, attemptMs, onTrouble } = dependencies;
  try {
    const body = JSON.stringify(presentEvent(event, presentData, sentAt));
    const known = sealed ?? (await ensureAccountSecret(dependencies, event.accountId));
    const secrets = openSecrets(secretBox, endpointId ?? event.accountId, known, sentAt);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Sluice",
      ...signEvent({ id: event.id, body, sentAt }, secrets),
      // The receiver submitted the task, so it can continue its own trace.
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    const limits = { bytesMax: answerBytesMax, timeoutMs: attemptMs };
    return judgeAnswer(await client.post(url, { headers, body, ...limits, signal }));
  } catch (error) {
    if (signal.aborted) return null;
    const nothing = { status: null, answer: null, retryAfter: null };
    if (error instanceof GuardedFetchError) return { ...nothing, error: errorsByReason[error.reason] };
    // The secret cannot be decrypted or the data not presented: retry, because an operator may fix it.
    onTrouble(error);
    return { ...nothing, error: "internal_error" };
  }
}

function openSecrets(box: SecretBox, ownerId: string, sealed: SealedSecrets, now: Date): string[] {
  const { current, previous, previousUntil } = sealed;
  const isPreviousValid = previous !== null && previousUntil !== null && previousUntil > now;
  return [current, ...(isPreviousValid ? [previous] : [])].map((secret) => box.open(ownerId, secret));
}

const errorsByReason = {
  "forbidden-address": "forbidden_address",
  unreachable: "unreachable",
  overloaded: "unreachable",
  timeout: "timeout",
  "too-large": "bad_answer",
  "wrong-type": "bad_answer",
  "bad-answer": "bad_answer",
} as const satisfies Record<GuardedFetchError["reason"], AttemptError>;

function judgeAnswer({ status, headers, bytes }: GuardedAnswer): Answer {
  const retryAfter = headers["retry-after"];
  return {
    status,
    error: judgeStatus(status),
    // PostgreSQL rejects NUL characters in text.
    answer: bytes.subarray(0, keptBytesMax).toString("utf8").replaceAll("\0", "�"),
    retryAfter: typeof retryAfter === "string" ? retryAfter : null,
  };
}

function judgeStatus(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "bad_status";
}
