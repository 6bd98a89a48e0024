import type { Caller } from "../../../lib/caller.ts";
import type { Clock } from "../../../lib/clock.ts";
import { averageRecent, clampWait, estimateWait } from "../../../platform/counters/estimate-wait.ts";
import type { Database } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { nothingSeen, presentLimitHeaders, presentRetryHeaders } from "../../../platform/http/limit-headers.ts";
import type { SeenLimits } from "../../../platform/http/request-context.ts";
import type { TaskType } from "../task.ts";
import { listRecentSpans, type TaskSpan } from "../task-store.ts";
import type { FullLimit } from "./write-submissions.ts";

/** The estimate when no task of the caller has ended yet. */
const usualMsAtFirst = 10_000;

/** The error for a task beyond the concurrency limit, with an estimate of when an open task ends. */
export async function createFullError(
  { database, clock }: { database: Database; clock: Clock },
  { caller, limit: { owner, max }, seen }: { caller: Caller; limit: FullLimit; seen: SeenLimits | null },
): Promise<AppError> {
  const keyId = owner === "API key" ? caller.keyId : null;
  const spans = await listRecentSpans(database, { accountId: caller.accountId, keyId });
  const retryAfterMs = estimateFree(spans, clock.now());
  const places = { limit: max, remaining: 0, resetMs: retryAfterMs, retryAfterMs };
  return new AppError(
    "concurrency_limit_exceeded",
    `The ${owner}'s limit of ${max} open tasks is reached. Retry when one of them has ended.`,
    {
      headers: {
        ...presentLimitHeaders({ ...(seen ?? nothingSeen), places }, "going-on"),
        ...presentRetryHeaders(retryAfterMs),
      },
    },
  );
}

/** `spans` come newest first. A type without a finished task is estimated by the other types. */
export function estimateFree(spans: readonly TaskSpan[], now: Date): number {
  const usualOfTypes = new Map<TaskType, number>();
  let usualOfAll: number | null = null;
  for (const { type, createdAt, finishedAt } of spans.toReversed()) {
    if (finishedAt === null) continue;
    const durationMs = finishedAt.getTime() - createdAt.getTime();
    usualOfTypes.set(type, averageRecent(usualOfTypes.get(type) ?? null, durationMs));
    usualOfAll = averageRecent(usualOfAll, durationMs);
  }
  const usualMs = usualOfAll ?? usualMsAtFirst;
  const open = spans.filter(({ finishedAt }) => finishedAt === null);
  const holders = open.map(({ type, createdAt }) => ({
    ageMs: now.getTime() - createdAt.getTime(),
    usualMs: usualOfTypes.get(type) ?? usualMs,
  }));
  return clampWait(estimateWait(holders));
}
