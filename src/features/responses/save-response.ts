import type { Caller } from "../../lib/caller.ts";
import type { Database } from "../../platform/database/database.ts";
import type { CallEnd } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { addItems } from "./conversation-store.ts";
import type { PreparedResponse } from "./prepare-response.ts";
import type { FinishedResponse } from "./present-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { nameResponse } from "./response-envelope.ts";
import type { JsonObject, PlacedItem, ResponseRequest } from "./response-request.ts";
import { insertResponse, type NewResponse } from "./response-store.ts";
import { toSavedItems } from "./saved-items.ts";

/** The maximum size of a stored response, in bytes. */
const savedBytesMax = 4 * 1024 * 1024;

/** A response that will be stored: its caller and its input. */
export type SavedRequest = {
  caller: Caller;
  requestId: string;
  request: ResponseRequest;
  items: readonly PlacedItem[];
  /** Whether it is stored by itself, or only as part of its conversation. */
  isStored: boolean;
  conversationId: string | null;
};

/** Whether to store a response: the caller wants it, and it is not too large. */
export function isSavable(
  { retentionMs }: Pick<ResponseDependencies, "retentionMs">,
  { request, bytes }: { request: ResponseRequest; bytes: number },
): boolean {
  return request.store !== false && retentionMs > 0 && bytes <= savedBytesMax;
}

/**
 * Stores a finished response before its caller gets the last event. If that fails, the response is delivered anyway,
 * because it is paid for, and says that it is not stored. Nothing is stored if the caller disconnected.
 */
export async function saveResponse(
  { database, clock, logger, retentionMs }: ResponseDependencies,
  saved: SavedRequest,
  { presenter, end }: Pick<PreparedResponse, "presenter"> & { end: CallEnd<ChatKinds> },
): Promise<void> {
  if (end.hasHungUp) return;
  const finished = presenter.describeEnd(end);
  const { status, body, itemIds } = finished;
  if (body.length > savedBytesMax) {
    presenter.markUnstored();
    return;
  }
  try {
    const times = { now: clock.now(), retentionMs };
    const row = { ...describeRow(saved, times), state: status, body, itemIds, events: null, leaseUntil: null };
    if (saved.conversationId === null) await insertResponse(database, row);
    else
      await database.transaction().execute(async (tx) => {
        if (saved.isStored) await insertResponse(tx, row);
        await addToConversation(tx, saved, finished, times);
      });
  } catch (error) {
    presenter.markUnstored();
    const { accountId, keyId } = saved.caller;
    logger.error({ request_id: saved.requestId, account_id: accountId, key_id: keyId, error }, "response not stored");
  }
}

/** Adds the input and output of a response to its conversation, if that still exists. */
export async function addToConversation(
  database: Database,
  { caller, requestId, items, conversationId }: SavedRequest,
  { status, body }: FinishedResponse,
  { now, retentionMs }: { now: Date; retentionMs: number },
): Promise<void> {
  if (conversationId === null || status === "failed") return;
  const { output } = JSON.parse(body) as { output: JsonObject[] };
  const said = [...toSavedItems(items, requestId), ...output];
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
  { caller, requestId, request, items }: SavedRequest,
  { now, retentionMs }: { now: Date; retentionMs: number },
): Omit<NewResponse, "state" | "body" | "itemIds" | "events" | "leaseUntil"> {
  return {
    accountId: caller.accountId,
    id: nameResponse(requestId),
    previousId: request.previous_response_id ?? null,
    input: JSON.stringify(toSavedItems(items, requestId)),
    createdAt: now,
    expiresAt: new Date(now.getTime() + retentionMs),
  };
}
