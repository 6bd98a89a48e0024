import type { AccountId } from "../../lib/ids.ts";
import { isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findConversation, listItems, type StoredItem } from "./conversation-store.ts";
import { createItemReader, type ItemReader } from "./item-reader.ts";
import type { Conversation } from "./prepare-response.ts";
import { listOwnItems, readConversationId } from "./read-response-request.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import type { JsonObject, PlacedItem, ResponseRequest } from "./response-request.ts";
import { findChain, findResponsesOfItems, type StoredResponse } from "./response-store.ts";
import { itemIdPattern } from "./saved-items.ts";

/** The longest chain of `previous_response_id` that is followed. */
const chainMax = 1000;
/** Other ids cannot exist, so they are not looked up. */
const responseIdPattern = /^resp_[0-9a-z]{1,64}$/;
const conversationIdPattern = /^conv_[0-9a-z]{1,64}$/;
const ownIdPattern = /^(?:msg|rs|fc|ctc|cmp)_([0-9a-z]{26})_i?\d{1,5}$/;

/** Whether a request refers to stored items. */
export function hasHistory(request: ResponseRequest): boolean {
  const namesStored = request.previous_response_id != null || request.conversation != null;
  // An outline has no references.
  return namesStored || (!isUnread(request, "input") && listOwnItems(request).some(({ item }) => isReference(item)));
}

function isReference({ type, role }: JsonObject): boolean {
  return type === "item_reference" || (type == null && role === undefined);
}

/** All items of the conversation that a request continues. Throws if a referenced item does not exist. */
export async function loadConversation(
  dependencies: ResponseDependencies,
  accountId: AccountId,
  request: ResponseRequest,
): Promise<Conversation> {
  const reader = createItemReader(dependencies.itemLimits);
  const before = await loadBefore(dependencies, reader, accountId, request);
  const own = listOwnItems(request);
  const references = own.filter(({ item }) => isReference(item)).map(({ item }) => String(item.id));
  if (reader.isTooMuch()) throw createTooLong(request.conversation == null ? "previous_response_id" : "conversation");
  const stored = await findItems(dependencies, { accountId, ids: references });
  for (const { item } of before.items) stored.set(String(item.id), item);
  let bytesBefore = before.bytes;
  const items = own.map(({ item, place }) => {
    if (!isReference(item)) return { item, place };
    const found = stored.get(String(item.id));
    if (found === undefined) {
      const message = `There is no stored item with the id in \`${place}.id\`. Items of responses with \`store: false\` are not stored.`;
      throw new AppError("not_found", message, { param: `${place}.id` });
    }
    const text = JSON.stringify(found);
    bytesBefore += Buffer.byteLength(text);
    reader.count(text);
    if (reader.isTooMuch() || bytesBefore > dependencies.itemLimits.bytesMax) throw createTooLong(place);
    return { item: found, place };
  });
  return { items: [...before.items, ...items], own: items, bytesBefore };
}

type EarlierItems = { items: PlacedItem[]; bytes: number };

/** The items before a request, from the conversation or the response that it names. */
async function loadBefore(
  dependencies: ResponseDependencies,
  reader: ItemReader,
  accountId: AccountId,
  request: ResponseRequest,
): Promise<EarlierItems> {
  const { previous_response_id: previousId } = request;
  const conversationId = readConversationId(request);
  if (conversationId !== null) {
    if (previousId == null)
      return await loadStoredConversation(dependencies, reader, { accountId, id: conversationId });
    const message = "Send `previous_response_id` or `conversation`, not both.";
    throw new AppError("invalid_parameter", message, { param: "previous_response_id" });
  }
  if (previousId == null) return { items: [], bytes: 0 };
  const before = responseIdPattern.test(previousId)
    ? await loadItems(dependencies, reader, { accountId, id: previousId })
    : null;
  if (before !== null) return before;
  const message = "There is no stored response with the id in `previous_response_id`.";
  throw new AppError("not_found", message, { param: "previous_response_id" });
}

async function loadStoredConversation(
  { database, clock, itemLimits }: ResponseDependencies,
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
  const message = "The conversation is larger than a request may be. Start a new one with a summary of it.";
  return new AppError("context_length_exceeded", message, { param });
}

/** The items of a response and of all before it; `null` if the response does not exist. */
async function loadItems(
  dependencies: ResponseDependencies,
  reader: ItemReader,
  key: { accountId: AccountId; id: string },
): Promise<EarlierItems | null> {
  const chain = await loadChain(dependencies, key);
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
  const message = `The response ${id} can't be continued: it is ${state.replace("_", " ")}.`;
  return new AppError("invalid_parameter", message, { param: "previous_response_id" });
}

/** A response and all before it, oldest first; `null` if one of them does not exist. */
async function loadChain(
  { database, clock, itemLimits }: ResponseDependencies,
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
 * A page of the items that a response was made from, including those of earlier responses, as JSON; `null` if `after`
 * is not one of them. Parses one response at a time, only as far as the page goes.
 */
export async function listInputItems(
  dependencies: ResponseDependencies,
  response: StoredResponse,
  { limit, bytesMax, order, after }: ItemPage,
): Promise<{ items: StoredItem[]; hasMore: boolean } | null> {
  const { accountId, previousId } = response;
  const before = previousId === null ? [] : ((await loadChain(dependencies, { accountId, id: previousId })) ?? []);
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

/** The output of the response itself is not one of its input items. */
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
  { database, clock, itemLimits }: ResponseDependencies,
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
