import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findConversation, listItems, type StoredItem } from "./conversation-store.ts";
import { createItemReader, type ItemLimits, type ItemReader } from "./item-reader.ts";
import { itemIdPattern } from "./keep-items.ts";
import type { Conversation } from "./prepare-response.ts";
import type { PlacedItem } from "./read-input.ts";
import { listOwnItems, readConversationId } from "./read-response-request.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";
import { findChain, findResponsesOfItems, type StoredResponse } from "./response-store.ts";

type Shelf = { database: Database; clock: Clock; itemLimits: ItemLimits };

/** How far back a conversation is followed, in responses. */
const chainMax = 1000;
/** Anything else is no id of ours, and names nothing. */
const responseIdPattern = /^resp_[0-9a-z]{1,64}$/;
const conversationIdPattern = /^conv_[0-9a-z]{1,64}$/;
const ownIdPattern = /^(?:msg|rs|fc|ctc)_([0-9a-z]{26})_i?\d{1,5}$/;

/** Whether a request speaks of something that is stored. */
export function hasHistory(request: ResponseRequest): boolean {
  const namesStored = request.previous_response_id != null || request.conversation != null;
  return namesStored || listOwnItems(request).some(({ item }) => isReference(item));
}

function isReference({ type, role }: JsonObject): boolean {
  return type === "item_reference" || (type == null && role === undefined);
}

/** All items of the conversation that a request goes on with. Throws where something that it names is not there. */
export async function loadConversation(
  shelf: Shelf,
  accountId: AccountId,
  request: ResponseRequest,
): Promise<Conversation> {
  const reader = createItemReader(shelf.itemLimits);
  const before = await loadBefore(shelf, reader, accountId, request);
  const own = listOwnItems(request);
  const references = own.filter(({ item }) => isReference(item)).map(({ item }) => String(item.id));
  if (reader.isTooMuch()) throw createTooLong(request.conversation == null ? "previous_response_id" : "conversation");
  const stored = await findItems(shelf, { accountId, ids: references });
  for (const { item } of before.items) stored.set(String(item.id), item);
  let bytesBefore = before.bytes;
  const items = own.map(({ item, place }) => {
    if (!isReference(item)) return { item, place };
    const found = stored.get(String(item.id));
    if (found === undefined) {
      const message = `There is no stored item with the id in \`${place}.id\`. Items of responses with \`store: false\` are not kept.`;
      throw new AppError("not_found", message, { param: `${place}.id` });
    }
    const text = JSON.stringify(found);
    bytesBefore += Buffer.byteLength(text);
    reader.count(text);
    if (reader.isTooMuch() || bytesBefore > shelf.itemLimits.bytesMax) throw createTooLong(place);
    return { item: found, place };
  });
  return { items: [...before.items, ...items], own: items, bytesBefore };
}

type EarlierItems = { items: PlacedItem[]; bytes: number };

/** What was said before a request, in the conversation or in the responses that it names. */
async function loadBefore(
  shelf: Shelf,
  reader: ItemReader,
  accountId: AccountId,
  request: ResponseRequest,
): Promise<EarlierItems> {
  const { previous_response_id: previousId } = request;
  const conversationId = readConversationId(request);
  if (conversationId !== null) {
    if (previousId == null) return await loadStoredConversation(shelf, reader, { accountId, id: conversationId });
    const message = "`previous_response_id` and `conversation` exclude each other.";
    throw new AppError("invalid_parameter", message, { param: "previous_response_id" });
  }
  if (previousId == null) return { items: [], bytes: 0 };
  const before = responseIdPattern.test(previousId)
    ? await loadItems(shelf, reader, { accountId, id: previousId })
    : null;
  if (before !== null) return before;
  const message = "There is no stored response with the id in `previous_response_id`.";
  throw new AppError("not_found", message, { param: "previous_response_id" });
}

async function loadStoredConversation(
  { database, clock, itemLimits }: Shelf,
  reader: ItemReader,
  key: { accountId: AccountId; id: string },
): Promise<EarlierItems> {
  const param = "conversation";
  const isId = conversationIdPattern.test(key.id);
  const conversation = isId ? await findConversation(database, key, clock.now()) : null;
  if (conversation === null) {
    throw new AppError("not_found", "There is no conversation with the id in `conversation`.", { param });
  }
  const { bytes } = conversation;
  if (bytes > itemLimits.bytesMax) throw createTooLong(param);
  const items: PlacedItem[] = [];
  for (const text of await listItems(database, key)) items.push({ item: await reader.readItem(text), place: param });
  return { items, bytes };
}

function createTooLong(param: string): AppError {
  const message = "The conversation has more in it than a request may have. Start another with a summary of it.";
  return new AppError("context_length_exceeded", message, { param });
}

/** What a response was made of, and what it is, with all before it; `null` where there is no such response. */
async function loadItems(
  shelf: Shelf,
  reader: ItemReader,
  key: { accountId: AccountId; id: string },
): Promise<EarlierItems | null> {
  const chain = await loadChain(shelf, key);
  if (chain === null) return null;
  let bytes = 0;
  const items: PlacedItem[] = [];
  for (const response of chain) {
    if (response.state !== "completed" && response.state !== "incomplete") throw createUnfinished(response);
    bytes += response.input.length + response.body.length;
    for (const item of await reader.readResponse(response)) items.push({ item, place: "previous_response_id" });
  }
  return { items, bytes };
}

function createUnfinished({ id, state }: StoredResponse): AppError {
  const message = `Nothing can go on from the response ${id}: it is ${state.replace("_", " ")}.`;
  return new AppError("invalid_parameter", message, { param: "previous_response_id" });
}

/** A response and all before it, the oldest first; `null` where it, or one before it, is not there. */
async function loadChain(
  { database, clock, itemLimits }: Shelf,
  key: { accountId: AccountId; id: string },
): Promise<StoredResponse[] | null> {
  const { bytesMax } = itemLimits;
  const chain = await findChain(database, key, { now: clock.now(), countMax: chainMax, bytesMax });
  const [oldest] = chain;
  if (oldest === undefined) return null;
  if (oldest.previousId === null) return chain;
  const bytes = chain.reduce((sum, { input, body }) => sum + input.length + body.length, 0);
  if (chain.length < chainMax && bytes <= bytesMax) return null;
  throw createTooLong("previous_response_id");
}

type ItemPage = { limit: number; bytesMax: number; order: "asc" | "desc"; after: string | null };

/**
 * Some of the items that a response was made of, its own and those before, as JSON texts; `null` where `after` is none of
 * them. Parses response by response, and only as far as the page goes.
 */
export async function listInputItems(
  shelf: Shelf,
  response: StoredResponse,
  { limit, bytesMax, order, after }: ItemPage,
): Promise<{ items: StoredItem[]; hasMore: boolean } | null> {
  const { accountId, previousId } = response;
  const before = previousId === null ? [] : ((await loadChain(shelf, { accountId, id: previousId })) ?? []);
  const reader = createItemReader(unlimited);
  const items: StoredItem[] = [];
  let bytes = 0;
  let isBehind = after === null;
  for await (const item of walkItems(reader, [...before, { ...response, body: emptyBody }], order)) {
    const id = String(item.id);
    if (!isBehind) {
      isBehind = id === after;
      continue;
    }
    const text = JSON.stringify(item);
    bytes += Buffer.byteLength(text);
    if (items.length >= limit || (items.length > 0 && bytes > bytesMax)) return { items, hasMore: true };
    items.push({ id, text });
  }
  return isBehind ? { items, hasMore: false } : null;
}

/** Of the response itself only what it was asked is an input. */
const emptyBody = '{"output":[]}';
const unlimited = { structureMax: Number.POSITIVE_INFINITY, escapesMax: Number.POSITIVE_INFINITY };

async function* walkItems(
  reader: ItemReader,
  oldestFirst: StoredResponse[],
  order: "asc" | "desc",
): AsyncGenerator<JsonObject, void, undefined> {
  for (const response of order === "asc" ? oldestFirst : oldestFirst.reverse()) {
    const items = await reader.readResponse(response);
    yield* order === "asc" ? items : items.reverse();
  }
}

async function findItems(
  { database, clock, itemLimits }: Shelf,
  { accountId, ids }: { accountId: AccountId; ids: readonly string[] },
): Promise<Map<string, JsonObject>> {
  if (ids.length === 0) return new Map();
  const responseIds = [...new Set(ids.flatMap((id) => ownIdPattern.exec(id)?.[1] ?? []))].map((each) => `resp_${each}`);
  const itemIds = ids.filter((id) => itemIdPattern.test(id) && !ownIdPattern.test(id));
  const search = { responseIds, itemIds, now: clock.now(), bytesMax: itemLimits.bytesMax };
  const responses = await findResponsesOfItems(database, accountId, search);
  if (responses === null) throw createTooLong("input");
  const reader = createItemReader(unlimited);
  const items = new Map<string, JsonObject>();
  for (const response of responses) {
    for (const item of await reader.readResponse(response)) items.set(String(item.id), item);
  }
  return items;
}
