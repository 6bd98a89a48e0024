import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findConversation, listItems } from "./conversation-store.ts";
import type { Conversation } from "./prepare-response.ts";
import type { PlacedItem } from "./read-input.ts";
import { listOwnItems, readConversationId } from "./read-response-request.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";
import { findChain, findResponsesOfItems, type StoredResponse } from "./response-store.ts";

type Shelf = { database: Database; clock: Clock };

/** How far back a conversation is followed: in responses, and in bytes of all of them. */
const chainMax = 1000;
const chainBytesMax = 32 * 1024 * 1024;
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
  { database, clock }: Shelf,
  accountId: AccountId,
  request: ResponseRequest,
): Promise<Conversation> {
  const before = await loadBefore({ database, clock }, accountId, request);
  const own = listOwnItems(request);
  const references = own.filter(({ item }) => isReference(item)).map(({ item }) => String(item.id));
  const stored = await findItems(database, { accountId, ids: references, now: clock.now() });
  for (const { item } of before.items) stored.set(String(item.id), item);
  let bytesBefore = before.bytes;
  const items = own.map(({ item, place }) => {
    if (!isReference(item)) return { item, place };
    const found = stored.get(String(item.id));
    if (found === undefined) {
      const message = `There is no stored item with the id ${String(item.id)}. Items of responses with \`store: false\` are not kept.`;
      throw new AppError("not_found", message, { param: `${place}.id` });
    }
    bytesBefore += Buffer.byteLength(JSON.stringify(found));
    return { item: found, place };
  });
  return { items: [...before.items, ...items], own: items, bytesBefore };
}

type EarlierItems = { items: PlacedItem[]; bytes: number };

/** What was said before a request, in the conversation or in the responses that it names. */
async function loadBefore(shelf: Shelf, accountId: AccountId, request: ResponseRequest): Promise<EarlierItems> {
  const { previous_response_id: previousId } = request;
  const conversationId = readConversationId(request);
  if (conversationId !== null) {
    if (previousId == null) return await loadStoredConversation(shelf, { accountId, id: conversationId });
    const message = "`previous_response_id` and `conversation` exclude each other.";
    throw new AppError("invalid_parameter", message, { param: "previous_response_id" });
  }
  if (previousId == null) return { items: [], bytes: 0 };
  const before = await loadItems(shelf, { accountId, id: previousId });
  if (before !== null) return before;
  const message = `There is no stored response with the id ${previousId}.`;
  throw new AppError("not_found", message, { param: "previous_response_id" });
}

async function loadStoredConversation(
  { database, clock }: Shelf,
  key: { accountId: AccountId; id: string },
): Promise<EarlierItems> {
  const param = "conversation";
  const conversation = await findConversation(database, key, clock.now());
  if (conversation === null) {
    throw new AppError("not_found", `There is no conversation with the id ${key.id}.`, { param });
  }
  const { bytes } = conversation;
  if (bytes > chainBytesMax) throw createTooLong(param);
  const texts = await listItems(database, key);
  return { items: texts.map((text) => ({ item: JSON.parse(text) as JsonObject, place: param })), bytes };
}

function createTooLong(param: string): AppError {
  return new AppError("context_length_exceeded", "The conversation is too long to be gone on with.", { param });
}

/** What a response was made of, and what it is, with all before it; `null` where there is no such response. */
async function loadItems(
  { database, clock }: Shelf,
  key: { accountId: AccountId; id: string },
): Promise<EarlierItems | null> {
  const chain = await loadChain({ database, clock }, key);
  if (chain === null) return null;
  let bytes = 0;
  const items = chain.flatMap((response) => {
    if (response.state !== "completed" && response.state !== "incomplete") throw createUnfinished(response);
    bytes += response.input.length + response.body.length;
    const all = [...parseItems(response.input), ...readOutput(response)];
    return all.map((item) => ({ item, place: "previous_response_id" }));
  });
  return { items, bytes };
}

function createUnfinished({ id, state }: StoredResponse): AppError {
  const message = `Nothing can go on from the response ${id}: it is ${state.replace("_", " ")}.`;
  return new AppError("invalid_parameter", message, { param: "previous_response_id" });
}

/** A response and all before it, the oldest first; `null` where it, or one before it, is not there. */
async function loadChain(
  { database, clock }: Shelf,
  key: { accountId: AccountId; id: string },
): Promise<StoredResponse[] | null> {
  const bounds = { now: clock.now(), countMax: chainMax, bytesMax: chainBytesMax };
  const chain = await findChain(database, key, bounds);
  const [oldest] = chain;
  if (oldest === undefined) return null;
  if (oldest.previousId === null) return chain;
  const bytes = chain.reduce((sum, { input, body }) => sum + input.length + body.length, 0);
  if (chain.length < chainMax && bytes <= chainBytesMax) return null;
  throw createTooLong("previous_response_id");
}

/** The items that a response was made of, its own and those before. */
export async function loadInputItems(shelf: Shelf, response: StoredResponse): Promise<JsonObject[]> {
  const { accountId, previousId } = response;
  const before = previousId === null ? [] : ((await loadChain(shelf, { accountId, id: previousId })) ?? []);
  const earlier = before.flatMap((each) => [...parseItems(each.input), ...readOutput(each)]);
  return [...earlier, ...parseItems(response.input)];
}

function parseItems(text: string): JsonObject[] {
  return JSON.parse(text) as JsonObject[];
}

function readOutput({ body }: StoredResponse): JsonObject[] {
  return (JSON.parse(body) as { output: JsonObject[] }).output;
}

async function findItems(
  database: Database,
  { accountId, ids, now }: { accountId: AccountId; ids: readonly string[]; now: Date },
): Promise<Map<string, JsonObject>> {
  if (ids.length === 0) return new Map();
  const responseIds = [...new Set(ids.flatMap((id) => ownIdPattern.exec(id)?.[1] ?? []))].map((each) => `resp_${each}`);
  const itemIds = ids.filter((id) => !ownIdPattern.test(id));
  const responses = await findResponsesOfItems(database, accountId, { responseIds, itemIds, now });
  const items = responses.flatMap((response) => [...parseItems(response.input), ...readOutput(response)]);
  return new Map(items.map((item) => [String(item.id), item]));
}
