import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Conversation } from "./prepare-response.ts";
import type { PlacedItem } from "./read-input.ts";
import { listOwnItems } from "./read-response-request.ts";
import { readSuffix } from "./response-envelope.ts";
import type { JsonObject, ResponseRequest } from "./response-request.ts";
import { findChain, findResponsesOfItems, type StoredResponse } from "./response-store.ts";

type Shelf = { database: Database; clock: Clock };

/** How far back a conversation is followed: in responses, and in bytes of all of them. */
const chainMax = 1000;
const chainBytesMax = 32 * 1024 * 1024;
const ownIdPattern = /^(?:msg|rs|fc|ctc)_([0-9a-z]{26})_i?\d{1,5}$/;

/** Whether a request speaks of something that is stored. */
export function hasHistory(request: ResponseRequest): boolean {
  return request.previous_response_id != null || listOwnItems(request).some(({ item }) => isReference(item));
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
  const now = clock.now();
  const { previous_response_id: previousId } = request;
  const before = previousId == null ? null : await loadItems({ database, clock }, { accountId, id: previousId });
  if (previousId != null && before === null) {
    const message = `There is no stored response with the id ${previousId}.`;
    throw new AppError("not_found", message, { param: "previous_response_id" });
  }
  const own = listOwnItems(request);
  const references = own.filter(({ item }) => isReference(item)).map(({ item }) => String(item.id));
  const stored = await findItems(database, { accountId, ids: references, now });
  let bytesBefore = before?.bytes ?? 0;
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
  return { items: [...(before?.items ?? []), ...items], own: items, bytesBefore };
}

/** What a response was made of, and what it is, with all before it; `null` where there is no such response. */
async function loadItems(
  { database, clock }: Shelf,
  key: { accountId: AccountId; id: string },
): Promise<{ items: PlacedItem[]; bytes: number } | null> {
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
  throw new AppError("context_length_exceeded", "The conversation is too long to be gone on with.", {
    param: "previous_response_id",
  });
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

const idPrefixes: Readonly<Record<string, string>> = {
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctc",
};

/** The items of a request as they are kept: each with an id, and a message as it is where it is listed. */
export function writeInput(items: readonly PlacedItem[], requestId: string): string {
  const suffix = readSuffix(requestId);
  return JSON.stringify(
    items.map(({ item }, index) => {
      const type = String(item.type ?? "message");
      const id = `${idPrefixes[type] ?? "msg"}_${suffix}_i${index}`;
      const content = typeof item.content === "string" ? [toPart(item.role, item.content)] : item.content;
      return { ...item, id: item.id ?? id, type, ...(content === undefined ? {} : { content }) };
    }),
  );
}

function toPart(role: unknown, text: string): JsonObject {
  return role === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
}
