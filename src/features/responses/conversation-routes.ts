import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
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
import { readInput } from "./read-input.ts";
import { checkFieldDepth } from "./read-response-request.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import { readSuffix } from "./response-envelope.ts";
import type { JsonObject } from "./response-request.ts";
import { inputItemListSchema, inputItemQuerySchema } from "./response-schema.ts";
import { itemIdPattern, toSavedItems } from "./saved-items.ts";

const tags = ["Conversations"];
const params = pathParams({ conversation_id: "conversation" });
const itemParams = pathParams({ conversation_id: "conversation", item_id: "conversationItem" });
const noQuery = Type.Object({}, { additionalProperties: false });
const includeQuery = Type.Pick(inputItemQuerySchema, ["include", "include[]"], { additionalProperties: false });

/** Conversations are free, so their number is limited. */
const conversationsMax = 10_000;
const jsonType = "application/json; charset=utf-8";

/** Errors of a request with a body, in addition to those of every endpoint. */
const bodyErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

export function addConversationRoutes(http: HttpServer, dependencies: ResponseDependencies): void {
  addCreate(http, dependencies);
  addReadAndChange(http, dependencies);
  addItemRoutes(http, dependencies);
  addSingleItemRoutes(http, dependencies);
}

function readKey(request: { params: { conversation_id: string }; caller: FastifyRequest["caller"] }): ConversationKey {
  return { id: request.params.conversation_id, accountId: getCaller(request).accountId };
}

function createMissing(what = "conversation"): AppError {
  const message = `There is no such ${what}, or it has expired.`;
  return new AppError("not_found", message, { param: what === "conversation" ? "conversation_id" : "item_id" });
}

async function getConversation({ database, clock }: ResponseDependencies, key: ConversationKey) {
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

/** The items of a request in their stored form. Validates them like the input of a response. */
function readItems(items: readonly JsonObject[], requestId: string): StoredItem[] {
  checkFieldDepth("items", items);
  const placed = items.map((item, index) => ({ item, place: `items[${index}]` }));
  readInput(placed);
  for (const { item, place } of placed) {
    if (item.id == null || (typeof item.id === "string" && itemIdPattern.test(item.id))) continue;
    const message = `\`${place}.id\` must be 1 to 200 letters, digits, hyphens and underscores.`;
    throw new AppError("invalid_parameter", message, { param: `${place}.id` });
  }
  return toSavedItems(placed, requestId).map((item) => ({ id: String(item.id), text: JSON.stringify(item) }));
}

/** Checks the quota before the write and again after it, in the same transaction, because of concurrent writes. */
async function writeWithinQuota<T>(
  { database, retentionMs, quota }: ResponseDependencies,
  { accountId, items }: { accountId: AccountId; items: readonly StoredItem[] },
  write: (tx: Database) => Promise<T>,
): Promise<T> {
  if (retentionMs === 0) throw new AppError("unsupported_capability", "This gateway does not store conversations.");
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

async function requireCount({ database }: ResponseDependencies, accountId: AccountId): Promise<void> {
  if ((await countConversations(database, accountId)) < conversationsMax) return;
  throw new AppError(
    "payload_too_large",
    `An account can have at most ${conversationsMax} conversations. Delete some first.`,
  );
}

function addCreate(http: HttpServer, dependencies: ResponseDependencies): void {
  const { clock, retentionMs } = dependencies;
  const { config, schema, errors } = describeEndpoint("createConversation", [...bodyErrors, "insufficient_balance"]);
  http.post(
    "/conversations",
    {
      config,
      schema: {
        ...schema,
        summary: "Create a conversation",
        description: `A conversation holds items across responses. Pass its id as \`conversation\` to a response: the response's input and
output are added to it. It expires when unused for as long as responses are stored.`,
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

function addReadAndChange(http: HttpServer, dependencies: ResponseDependencies): void {
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
  const changing = describeEndpoint("updateConversation", [...bodyErrors, "not_found"]);
  http.post(
    "/conversations/:conversation_id",
    {
      config: changing.config,
      schema: {
        ...changing.schema,
        summary: "Update a conversation",
        description: "Replaces the conversation's metadata.",
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
        description: "Deletes a conversation and its items. Its responses are not deleted.",
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

function addItemRoutes(http: HttpServer, dependencies: ResponseDependencies): void {
  const { database, clock, retentionMs } = dependencies;
  const adding = describeEndpoint("createConversationItems", [...bodyErrors, "insufficient_balance", "not_found"]);
  http.post(
    "/conversations/:conversation_id/items",
    {
      config: adding.config,
      schema: {
        ...adding.schema,
        summary: "Add items to a conversation",
        description: "Appends items to the conversation. An item whose `id` exists already is skipped.",
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
        description: `Newest first, unless \`order\` is \`asc\`. A page has up to 1 MiB of items, and at least one item. While
\`has_more\` is true, pass \`last_id\` as \`after\`.`,
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
      throw new AppError("invalid_parameter", "`after` must be the id of an item in this list.", { param: "after" });
    },
  );
}

function addSingleItemRoutes(http: HttpServer, dependencies: ResponseDependencies): void {
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
