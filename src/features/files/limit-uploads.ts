import type { AccountId } from "../../lib/ids.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { presentRetryHeaders } from "../../platform/http/limit-headers.ts";

const uploadsAtOnceMax = 10;
/** A dead process's slots are free after this. */
const slotMs = 60_000;
const renewMs = slotMs / 3;

/** Runs an upload in one of the account's slots; throws if all are taken. */
export async function withUploadSlot<T>(
  counters: Counters,
  { accountId, requestId }: { accountId: AccountId; requestId: string },
  work: () => Promise<T>,
): Promise<T> {
  const lease = { key: `{${accountId}}:running-uploads`, leaseId: requestId };
  const check = { ...lease, max: uploadsAtOnceMax, ttlMs: slotMs, work: "uploads" };
  const decision = await counters.take({ rates: [], leases: [check] });
  if (!decision.isAllowed) throw createRefusal(decision.leases[0]?.retryAfterMs ?? 1000);
  // At worst a slot that could not be renewed is lost, and one upload too many runs for a while.
  const timer = setInterval(() => void counters.renew({ ...lease, ttlMs: slotMs }).catch(() => {}), renewMs);
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
    `The account's limit of ${uploadsAtOnceMax} concurrent uploads is reached. Retry when one of them has ended.`,
    { headers: presentRetryHeaders(retryAfterMs) },
  );
}
