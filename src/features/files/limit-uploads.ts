import type { AccountId } from "../../lib/ids.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentRetryHeaders } from "../../platform/http/limit-headers.ts";

const uploadsAtOnceMax = 10;
/** A process that died gives its places back after this. */
const placeMs = 60_000;
const renewMs = placeMs / 3;

/** Does the work of one upload while it holds one of the account's few places; throws where all are taken. */
export async function withUploadPlace<T>(
  counters: Counters,
  { accountId, requestId }: { accountId: AccountId; requestId: string },
  work: () => Promise<T>,
): Promise<T> {
  const lease = { key: `{${accountId}}:running-uploads`, leaseId: requestId };
  const check = { ...lease, max: uploadsAtOnceMax, ttlMs: placeMs, work: "uploads" };
  const decision = await counters.take({ rates: [], leases: [check] });
  if (!decision.isAllowed) throw createRefusal(decision.leases[0]?.retryAfterMs ?? 1000);
  // A place that could not be renewed is lost at the worst, and then one more upload runs for a while.
  const timer = setInterval(() => void counters.renew({ ...lease, ttlMs: placeMs }).catch(() => {}), renewMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await counters.release([lease]);
  }
}

function createRefusal(retryAfterMs: number): AppError {
  return new AppError(
    "concurrency_limit_exceeded",
    `Too much at once: ${uploadsAtOnceMax} uploads of the account run at this moment. Wait for one of them to end.`,
    {
      headers: presentRetryHeaders(retryAfterMs),
    },
  );
}
