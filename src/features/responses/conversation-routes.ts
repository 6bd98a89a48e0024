import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { optionalBody } from "../../platform/http/optional-body.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import {
  conversationRequestSchema,
  conversationSchema,
  conversationUpdateSchema,
  deletedConversationSchema,
  itemSchema,
  itemsRequestSchema,
} from "./conversation-schema.ts";
import {
  addItems,
  type ConversationKey,
  countConversations,
  deleteConversation,
  deleteItem,
  findConversation,
  findItem,
  insertConversation,
  listItemPage,
  type StoredConversation,
  type StoredItem,
  updateMetadata,
} from "./conversation-store.ts";
import { pageBytesMax, presentItemPage } from "./item-page.ts";
import { itemIdPattern, keepItems } from "./keep-items.ts";
import { readInput } from "./read-input.ts";
import { checkFieldDepth } from "./read-response-request.ts";
import { readSuffix } from "./response-envelope.ts";
import type { JsonObject } from "./response-request.ts";
import { inputItemListSchema, inputItemQuerySchema } from "./response-schema.ts";
import type { TextQuota } from "./text-quota.ts";

export type ConversationDependencies = { database: Database; clock: Clock; retentionMs: number; quota: TextQuota };

const tags = ["Conversations"];
const params = pathParams({ conversation_id: "conversation" });
const itemParams = pathParams({ conversation_id: "conversation", item_id: "conversationItem" });
const noQuery = Type.Object({}, { additionalProperties: false });
const includeQuery = Type.Pick(inputItemQuerySchema, ["include", "include[]"], { additionalProperties: false });

/** Conversations cost nothing to create. */
const conversationsMax = 10_000;
const jsonType = "application/json; charset=utf-8";

export function addConversationRoutes(http: HttpServer, dependencies: ConversationDependencies): void {
  addCreate(http, dependencies);
  addReadAndChange(http, dependencies);
  addItemRoutes(http, dependencies);
  addSingleItemRoutes(http, dependencies);
}

function readKey(request: { params: { conversation_id: string }; caller: FastifyRequest["caller"] }): ConversationKey {
  return { id: request.params.conversation_id, accountId: getCaller(request).accountId };
}

function createMissing(what = "conversation"): AppError {
  const message = `There is no such ${what}, or its time is over.`;
  return new AppError("not_found", message, { param: what === "conversation" ? "conversation_id" : "item_id" });
}

async function getConversation({ database, clock }: ConversationDependencies, key: ConversationKey) {
  const found = await findConversation(database, key, clock.now());
  if (found === null) throw createMissing();
  return found;
}

function present({ id, createdAt, metadata }: StoredConversation) {
  return {
    ...{ id, object: "conversation" as const, created_at: Math.floor(createdAt.getTime() / 1000) },
    metadata: JSON.parse(metadata) as Record<string, string>,
  };
}

/** The items of a request as they are kept. Throws what is wrong with one, as for a response that is made of it. */
function readItems(items: readonly JsonObject[], requestId: string): StoredItem[] {
  checkFieldDepth("items", items);
  const placed = items.map((item, index) => ({ item, place: `items[${index}]` }));
  readInput(placed);
  for (const { item, place } of placed) {
    if (item.id == null || (typeof item.id === "string" && itemIdPattern.test(item.id))) continue;
    const message = `\`${place}.id\` has up to 200 letters, digits, hyphens and underscores.`;
    throw new AppError("invalid_parameter", message, { param: `${place}.id` });
  }
  return keepItems(placed, requestId).map((item) => ({ id: String(item.id), text: JSON.stringify(item) }));
}

/** Refuses before anything is written; `write` is refused again, and undone, where others wrote at the same time. */
async function writeWithinQuota<T>(
  { database, retentionMs, quota }: ConversationDependencies,
  { accountId, items }: { accountId: AccountId; items: readonly StoredItem[] },
  write: (tx: Database) => Promise<T>,
): Promise<T> {
  if (retentionMs === 0) throw new AppError("unsupported_capability", "This gateway keeps no conversations.");
  await quota.require(
    database,
    accountId,
    items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  );
  return await database.transaction().execute(async (tx) => {
    const written = await write(tx);
    await quota.require(tx, accountId, 0);
    return written;
  });
}

async function requireCount({ database }: ConversationDependencies, accountId: AccountId): Promise<void> {
  if ((await countConversations(database, accountId)) < conversationsMax) return;
  throw new AppError(
    "payload_too_large",
    `An account has at most ${conversationsMax} conversations. Delete some first.`,
  );
}

function addCreate(http: HttpServer, dependencies: ConversationDependencies): void {
  const { clock, retentionMs } = dependencies;
  const { config, schema, errors } = describeEndpoint("createConversation", [
    "invalid_json",
    "missing_parameter",
    "invalid_parameter",
    "unknown_parameter",
    "unsupported_capability",
    "insufficient_balance",
    "payload_too_large",
    "unsupported_media_type",
  ]);
  http.post(
    "/conversations",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a conversation",
        description: `Something that responses go on from by \`conversation\`: what each was asked and what it answered is added to
it. It is kept until nobody has used it for as long as responses are kept.`,
        tags,
        body: optionalBody(conversationRequestSchema),
        response: { 200: conversationSchema, ...errors },
      },
    },
    async (request) => {
      const { accountId } = getCaller(request);
      const { items: given, metadata } = request.body ?? {};
      const items = readItems(given ?? [], request.id);
      await requireCount(dependencies, accountId);
      const now = clock.now();
      const conversation = {
        ...{ accountId, id: `conv_${readSuffix(request.id)}`, createdAt: now },
        metadata: JSON.stringify(metadata ?? {}),
      };
      const expiresAt = new Date(now.getTime() + retentionMs);
      await writeWithinQuota(dependencies, { accountId, items }, async (tx) => {
        await insertConversation(tx, { ...conversation, expiresAt });
        await addItems(tx, conversation, { items, now, expiresAt });
      });
      return present(conversation);
    },
  );
}

function addReadAndChange(http: HttpServer, dependencies: ConversationDependencies): void {
  const { database, clock, retentionMs } = dependencies;
  const reading = describeEndpoint("getConversation", ["not_found", "unknown_parameter"]);
  http.get(
    "/conversations/:conversation_id",
    {
      config: reading.config,
      schema: {
        ...reading.schema,
        summary: "Get a conversation",
        ...{ tags, params, querystring: noQuery },
        response: { 200: conversationSchema, ...reading.errors },
      },
    },
    async (request) => present(await getConversation(dependencies, readKey(request))),
  );
  const changing = describeEndpoint("updateConversation", [
    "not_found",
    "invalid_json",
    "missing_parameter",
    "invalid_parameter",
    "unknown_parameter",
    "unsupported_capability",
    "payload_too_large",
    "unsupported_media_type",
  ]);
  http.post(
    "/conversations/:conversation_id",
    {
      config: changing.config,
      schema: {
        ...changing.schema,
        summary: "Update a conversation",
        description: "Replaces what is noted about it.",
        ...{ tags, params, body: conversationUpdateSchema },
        response: { 200: conversationSchema, ...changing.errors },
      },
    },
    async (request) => {
      const conversation = await getConversation(dependencies, readKey(request));
      const metadata = JSON.stringify(request.body.metadata ?? {});
      const expiresAt = new Date(clock.now().getTime() + retentionMs);
      await updateMetadata(database, conversation, { metadata, expiresAt });
      return present({ ...conversation, metadata });
    },
  );
  const deleting = describeEndpoint("deleteConversation", ["not_found", "unknown_parameter"]);
  http.delete(
    "/conversations/:conversation_id",
    {
      config: deleting.config,
      schema: {
        ...deleting.schema,
        summary: "Delete a conversation",
        description: "Forgets a conversation and its items. Responses that were made in it stay.",
        ...{ tags, params, querystring: noQuery },
        response: { 200: deletedConversationSchema, ...deleting.errors },
      },
    },
    async (request) => {
      const { id } = await getConversation(dependencies, readKey(request));
      await deleteConversation(database, readKey(request));
      return { id, object: "conversation.deleted" as const, deleted: true as const };
    },
  );
}

function addItemRoutes(http: HttpServer, dependencies: ConversationDependencies): void {
  const { database, clock, retentionMs } = dependencies;
  const adding = describeEndpoint("createConversationItems", [
    "not_found",
    "invalid_json",
    "missing_parameter",
    "invalid_parameter",
    "unknown_parameter",
    "unsupported_capability",
    "insufficient_balance",
    "payload_too_large",
    "unsupported_media_type",
  ]);
  http.post(
    "/conversations/:conversation_id/items",
    {
      config: adding.config,
      schema: {
        ...adding.schema,
        summary: "Add items to a conversation",
        description: "Adds items behind all that are there. One whose `id` is there already stays where it is.",
        ...{ tags, params, querystring: includeQuery, body: itemsRequestSchema },
        response: { 200: Type.Unsafe<string>(inputItemListSchema), ...adding.errors },
      },
    },
    async (request, reply) => {
      const key = readKey(request);
      const items = readItems(request.body.items, request.id);
      await getConversation(dependencies, key);
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + retentionMs);
      const { accountId } = key;
      const isAdded = await writeWithinQuota(dependencies, { accountId, items }, (tx) =>
        addItems(tx, key, { items, now, expiresAt }),
      );
      if (!isAdded) throw createMissing();
      return reply.type(jsonType).send(presentItemPage({ items, hasMore: false }));
    },
  );
  const listing = describeEndpoint("listConversationItems", ["not_found", "invalid_parameter", "unknown_parameter"]);
  http.get(
    "/conversations/:conversation_id/items",
    {
      config: listing.config,
      schema: {
        ...listing.schema,
        summary: "List the items of a conversation",
        description: `The newest first, unless \`order\` is \`asc\`. A page has up to 1 MiB of items, and one item at least: while
\`has_more\` is true, go on with \`last_id\` as \`after\`.`,
        ...{ tags, params, querystring: inputItemQuerySchema },
        response: { 200: Type.Unsafe<string>(inputItemListSchema), ...listing.errors },
      },
    },
    async (request, reply) => {
      const key = readKey(request);
      await getConversation(dependencies, key);
      const { limit = 20, order = "desc", after = null } = request.query;
      const page = await listItemPage(database, key, { limit, bytesMax: pageBytesMax, order, after });
      if (page !== null) return reply.type(jsonType).send(presentItemPage(page));
      throw new AppError("invalid_parameter", "after must be the id of an item of this list.", { param: "after" });
    },
  );
}

function addSingleItemRoutes(http: HttpServer, dependencies: ConversationDependencies): void {
  const { database } = dependencies;
  const reading = describeEndpoint("getConversationItem", ["not_found", "invalid_parameter", "unknown_parameter"]);
  http.get(
    "/conversations/:conversation_id/items/:item_id",
    {
      config: reading.config,
      schema: {
        ...reading.schema,
        summary: "Get an item of a conversation",
        ...{ tags, params: itemParams, querystring: includeQuery },
        response: { 200: Type.Unsafe<string>(itemSchema), ...reading.errors },
      },
    },
    async (request, reply) => {
      await getConversation(dependencies, readKey(request));
      const item = await findItem(database, readKey(request), request.params.item_id);
      if (item === null) throw createMissing("item");
      return reply.type(jsonType).send(item);
    },
  );
  const deleting = describeEndpoint("deleteConversationItem", ["not_found", "unknown_parameter"]);
  http.delete(
    "/conversations/:conversation_id/items/:item_id",
    {
      config: deleting.config,
      schema: {
        ...deleting.schema,
        summary: "Delete an item of a conversation",
        ...{ tags, params: itemParams, querystring: noQuery },
        response: { 200: conversationSchema, ...deleting.errors },
      },
    },
    async (request) => {
      const conversation = await getConversation(dependencies, readKey(request));
      if (!(await deleteItem(database, conversation, request.params.item_id))) throw createMissing("item");
      return present(conversation);
    },
  );
}
