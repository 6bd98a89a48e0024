import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { CallEnd } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { addItems } from "./conversation-store.ts";
import { keepItems } from "./keep-items.ts";
import type { PreparedResponse } from "./prepare-response.ts";
import type { FinishedResponse } from "./present-response.ts";
import type { PlacedItem } from "./read-input.ts";
import { nameResponse } from "./response-envelope.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";
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
  /** Whether it is kept by itself, or only as a part of its conversation. */
  isStored: boolean;
  conversationId: string | null;
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
  const finished = presenter.describeEnd(end);
  const { status, body, itemIds } = finished;
  if (body.length > keptBytesMax) {
    presenter.noteLoss();
    return;
  }
  try {
    const times = { now: clock.now(), retentionMs };
    const row = { ...describeRow(kept, times), state: status, body, itemIds, events: null, leaseUntil: null };
    if (kept.conversationId === null) await insertResponse(database, row);
    else
      await database.transaction().execute(async (tx) => {
        if (kept.isStored) await insertResponse(tx, row);
        await addToConversation(tx, kept, finished, times);
      });
  } catch (error) {
    presenter.noteLoss();
    const { accountId, keyId } = kept.caller;
    logger.error(
      { request_id: kept.requestId, account_id: accountId, key_id: keyId, error },
      "a response was not kept",
    );
  }
}

/** Adds what was asked and what was answered to the conversation of a response; to one that is gone nothing can be added. */
export async function addToConversation(
  database: Database,
  { caller, requestId, items, conversationId }: KeptRequest,
  { status, body }: FinishedResponse,
  { now, retentionMs }: { now: Date; retentionMs: number },
): Promise<void> {
  if (conversationId === null || status === "failed") return;
  const { output } = JSON.parse(body) as { output: JsonObject[] };
  const said = [...keepItems(items, requestId), ...output];
  await addItems(
    database,
    { accountId: caller.accountId, id: conversationId },
    {
      items: said.map((item) => ({ id: String(item.id), text: JSON.stringify(item) })),
      ...{ now, expiresAt: new Date(now.getTime() + retentionMs) },
    },
  );
}

export function describeRow(
  { caller, requestId, request, items }: KeptRequest,
  { now, retentionMs }: { now: Date; retentionMs: number },
): Omit<NewResponse, "state" | "body" | "itemIds" | "events" | "leaseUntil"> {
  return {
    accountId: caller.accountId,
    id: nameResponse(requestId),
    previousId: request.previous_response_id ?? null,
    input: JSON.stringify(keepItems(items, requestId)),
    createdAt: now,
    expiresAt: new Date(now.getTime() + retentionMs),
  };
}
