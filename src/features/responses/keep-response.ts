import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { CallEnd } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { writeInput } from "./load-conversation.ts";
import type { PreparedResponse } from "./prepare-response.ts";
import type { PlacedItem } from "./read-input.ts";
import { nameResponse } from "./response-envelope.ts";
import type { ResponseRequest } from "./response-request.ts";
import { insertResponse, type NewResponse } from "./response-store.ts";

export type KeepDependencies = { database: Database; clock: Clock; logger: Logger; retentionMs: number };

/** What all of a response may have to be kept, in bytes. */
const keptBytesMax = 4 * 1024 * 1024;

/** A response that is going to be kept: whose it is, and what it was asked. */
export type KeptRequest = {
  caller: Caller;
  requestId: string;
  request: ResponseRequest;
  items: readonly PlacedItem[];
};

/** Whether a response is to be kept: its caller wants it, and there is not too much of it. */
export function isKept(
  { retentionMs }: Pick<KeepDependencies, "retentionMs">,
  { request, bytes }: { request: ResponseRequest; bytes: number },
): boolean {
  return request.store !== false && retentionMs > 0 && bytes <= keptBytesMax;
}

/**
 * Keeps a response that has ended, before its caller hears of the end. One that cannot be kept is answered all the same,
 * because it is paid for, and says then that it is not stored. What its caller did not wait for is nobody's.
 */
export async function keepResponse(
  { database, clock, logger, retentionMs }: KeepDependencies,
  kept: KeptRequest,
  { presenter, end }: Pick<PreparedResponse, "presenter"> & { end: CallEnd<ChatKinds> },
): Promise<void> {
  if (end.hasHungUp) return;
  const { status, body, itemIds } = presenter.describeEnd(end);
  if (body.length > keptBytesMax) {
    presenter.noteLoss();
    return;
  }
  try {
    const row = describeRow(kept, { now: clock.now(), retentionMs });
    await insertResponse(database, { ...row, state: status, body, itemIds, leaseUntil: null });
  } catch (error) {
    presenter.noteLoss();
    const { accountId, keyId } = kept.caller;
    logger.error(
      { request_id: kept.requestId, account_id: accountId, key_id: keyId, error },
      "a response was not kept",
    );
  }
}

export function describeRow(
  { caller, requestId, request, items }: KeptRequest,
  { now, retentionMs }: { now: Date; retentionMs: number },
): Omit<NewResponse, "state" | "body" | "itemIds" | "leaseUntil"> {
  return {
    accountId: caller.accountId,
    id: nameResponse(requestId),
    previousId: request.previous_response_id ?? null,
    input: writeInput(items, requestId),
    createdAt: now,
    expiresAt: new Date(now.getTime() + retentionMs),
  };
}
