import { JsonShape } from "../../lib/json-shape.ts";
import { confirmText, shareText } from "../../lib/json-text.ts";
import { findUnreadFacts, isUnread, leaveUnread, shareUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeUnknownField } from "../../platform/errors/describe-unknown-field.ts";
import type { ChatContents, NativeContents } from "../../providers/chat-contents.ts";
import type { ChatMessage, ChatRequest } from "../../providers/chat-request.ts";
import type { ChatObstacle, NativeRequest } from "../../providers/contract.ts";
import { isCallersTool } from "../../providers/native/find-native-obstacle.ts";
import { type CallersPlaces, chatFields } from "../chat/index.ts";
import { readCompactionMark } from "./compaction-mark.ts";
import type { ResponseOutline } from "./outline-response.ts";
import { readInput } from "./read-input.ts";
import { readToolOptions, readTools } from "./read-tools.ts";
import { readReasoningMark } from "./reasoning-mark.ts";
import { responseNames } from "./response-names.ts";
import { isObject, type JsonObject, type PlacedItem, type ResponseRequest } from "./response-request.ts";
import { responseRequestSchema } from "./response-request-schema.ts";
import { listToolEntries, type PlacedEntry } from "./tool-search.ts";

const jsonDepthMax = 64;

/** A request in the chat format. */
export type ReadRequest = {
  chat: ChatRequest;
  places: CallersPlaces;
  /** The tools as the caller wrote them. */
  entries: readonly PlacedEntry[];
  obstacle: ChatObstacle | null;
  /** The number of parts that are only referenced and may be far longer than the reference. */
  references: number;
};

/** The items of the request itself. */
export function listOwnItems({ input }: ResponseRequest): PlacedItem[] {
  if (input == null) return [];
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  return items.map((item, index) => ({ item, place: typeof input === "string" ? "input" : `input[${index}]` }));
}

/** Fields that refer to objects of an OpenAI account, which this gateway does not have. */
const absentFields = {
  prompt: "Stored prompts are not supported. Send `instructions` and `input`.",
} as const;

/** The id of the conversation, given as a string or as an object. */
export function readConversationId({ conversation }: ResponseRequest): string | null {
  if (conversation == null) return null;
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id === "string") return id;
  throw new AppError("invalid_parameter", "`conversation.id` must be a string.", { param: "conversation.id" });
}

/** Fields that only an upstream with the Responses API supports. */
const nativeFields = ["context_management", "access_programs", "image"] as const;

/** Fields with the same meaning in both formats. */
const sharedFields = [
  "temperature",
  "top_p",
  "user",
  "safety_identifier",
  "service_tier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "moderation",
] as const;

/** Translates a request to the chat format; `items` is the whole conversation. Throws if the request is invalid. */
export function readResponseRequest(request: ResponseRequest, items: readonly PlacedItem[]): ReadRequest {
  checkDepth(request);
  for (const [field, message] of Object.entries(absentFields)) {
    if (request[field] != null) throw new AppError("unsupported_capability", message, { param: field });
  }
  const outline = findUnreadFacts(request) as ResponseOutline | null;
  return outline === null ? readParsed(request, items) : readOutlined(request, outline);
}

/** The conversation is translated only if it is needed: most requests are forwarded as they are. */
function readOutlined(request: ResponseRequest, outline: ResponseOutline): ReadRequest {
  let whole: ReadRequest | null = null;
  const translate = (): ReadRequest => {
    if (whole === null) {
      const parsed = { ...request };
      whole = readParsed(parsed, listOwnItems(parsed));
    }
    return whole;
  };
  const preface = readPreface(request);
  const hasTools = outline.tools > 0;
  const tools = readToolOptions(request, { isIdle: !hasTools, isOffered: hasTools });
  const chat: ChatRequest = {
    model: request.model,
    messages: [],
    ...tools.fields,
    ...readFields(request),
  };
  addForeignFields(chat, request);
  const contents: ChatContents = {
    ...outline,
    messages: preface.length + outline.messages,
    characters: (preface.length === 0 ? 0 : (request.instructions?.length ?? 0)) + outline.characters,
    hasDeveloper: false,
    readOpening: () => [
      ...preface,
      ...readInput(listOwnItems({ model: request.model, input: outline.readOpening() })).messages,
    ],
  };
  const unread = { tools: { read: () => translate().chat.tools, text: null } };
  leaveUnread(
    chat,
    { messages: { read: () => translate().chat.messages, text: null }, ...(hasTools ? unread : {}) },
    contents,
  );
  const places = {
    get messages() {
      return translate().places.messages;
    },
    get tools() {
      return translate().places.tools;
    },
    names: responseNames,
  };
  return { chat, places, entries: [], obstacle: tools.obstacle ?? findNativeField(request), references: 0 };
}

function readPreface({ instructions }: ResponseRequest): ChatMessage[] {
  const hasInstructions = typeof instructions === "string" && instructions !== "";
  return hasInstructions ? [{ role: "system", content: instructions }] : [];
}

/** The fields beside the conversation and the tools. */
function readFields(request: ResponseRequest): Partial<ChatRequest> {
  return { ...readOptions(request), ...readFormat(request), ...readLogprobs(request) };
}

function readParsed(request: ResponseRequest, items: readonly PlacedItem[]): ReadRequest {
  const input = readInput(items);
  const entries = listToolEntries(request, items);
  const tools = readTools(request, entries);
  const references = input.references + (request.tools ?? []).filter(isHosted).length;
  const preface = readPreface(request);
  const messages = [...preface, ...input.messages];
  const obstacle = input.obstacle ?? tools.obstacle ?? findNativeField(request);
  if (messages.length === 0 && obstacle === null) {
    throw new AppError("missing_parameter", "`input` is missing or empty.", { param: "input" });
  }
  const chat: ChatRequest = {
    model: request.model,
    messages,
    ...tools.fields,
    ...readFields(request),
  };
  addForeignFields(chat, request);
  const places = {
    messages: [...preface.map(() => instructionsPlace), ...input.places],
    tools: tools.places,
    names: responseNames,
  };
  return { chat, places, entries, obstacle, references };
}

const instructionsPlace = { path: "instructions", content: "instructions", parts: [], calls: [] };

export const responseFieldNames = Object.keys(responseRequestSchema.properties);

/** An unknown field passes here; `checkChatFields` rejects it unless a route of the model names it. */
function addForeignFields(chat: ChatRequest, request: ResponseRequest): void {
  for (const field in request) {
    if (Object.hasOwn(responseRequestSchema.properties, field)) continue;
    if (Object.hasOwn(chatFields, field)) {
      throw new AppError("unknown_parameter", describeUnknownField(field, responseFieldNames), { param: field });
    }
    chat[field] = request[field];
  }
}

/** A hosted tool adds input of unknown size. */
function isHosted({ type }: JsonObject): boolean {
  return typeof type === "string" && !isCallersTool(type);
}

function checkDepth(request: ResponseRequest): void {
  const shape = new JsonShape();
  for (const field in request) {
    if (isUnread(request, field)) continue;
    shape.names += 1;
    shape.add(request[field], jsonDepthMax);
    if (shape.isTooDeep) throw createTooDeep(field);
  }
  confirmText(request, shape);
}

/** Rejects a value nested too deep. */
export function checkFieldDepth(param: string, value: unknown): void {
  const shape = new JsonShape();
  shape.add(value, jsonDepthMax);
  if (shape.isTooDeep) throw createTooDeep(param);
}

function createTooDeep(param: string): AppError {
  return refuse(param, `\`${param}\` is nested more than ${jsonDepthMax} levels deep.`);
}

function findNativeField(request: ResponseRequest): ChatObstacle | null {
  const field = nativeFields.find((name) => {
    const value = request[name];
    return value != null && !(Array.isArray(value) && value.length === 0);
  });
  if (field !== undefined) return { param: field, message: `This model does not support \`${field}\`.` };
  const mode = request.reasoning?.mode ?? "standard";
  if (mode === "standard") return null;
  return { param: "reasoning.mode", message: `This model does not support the mode ${mode}.` };
}

function readOptions(request: ResponseRequest): Partial<ChatRequest> {
  const options: Partial<ChatRequest> = {};
  for (const field of sharedFields) if (request[field] != null) Object.assign(options, { [field]: request[field] });
  if (request.max_output_tokens != null) options.max_completion_tokens = request.max_output_tokens;
  if (request.reasoning?.effort != null) options.reasoning_effort = request.reasoning.effort;
  if (request.text?.verbosity != null) options.verbosity = request.text.verbosity;
  if (request.stream === true) options.stream = true;
  return options;
}

function readFormat({ text }: ResponseRequest): Pick<ChatRequest, "response_format"> {
  const format = text?.format;
  if (format == null || format.type === "text") return {};
  if (format.type === "json_object") return { response_format: { type: "json_object" } };
  if (format.type !== "json_schema") {
    throw refuse("text.format.type", "`text.format.type` must be text, json_object or json_schema.");
  }
  const { name, schema, description, strict } = format;
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw refuse("text.format.name", "`text.format.name` must be 1 to 64 letters, digits, underscores or dashes.");
  }
  if (!isObject(schema)) throw refuse("text.format.schema", "`text.format.schema` must be a JSON schema.");
  if (strict != null && typeof strict !== "boolean") {
    throw refuse("text.format.strict", "`text.format.strict` must be true or false.");
  }
  const more = {
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
  return { response_format: { type: "json_schema", json_schema: { name, schema, ...more } } };
}

function refuse(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}

function readLogprobs({ include, top_logprobs: count }: ResponseRequest): Partial<ChatRequest> {
  const isAsked = include?.includes("message.output_text.logprobs") === true;
  if (!isAsked && (count ?? 0) === 0) return {};
  return { logprobs: true, ...(count == null ? {} : { top_logprobs: count }) };
}

/** Fields that only concern this gateway. */
const ownFields: ReadonlySet<string> = new Set([
  "previous_response_id",
  "conversation",
  "background",
  "client_metadata",
]);

/**
 * The request for an upstream with the Responses API: with the whole conversation, and without references to its own
 * storage.
 */
export function writeNativeBody(request: ResponseRequest, items: readonly PlacedItem[]): NativeRequest["body"] {
  const body: Record<string, unknown> = {};
  for (const field in request) {
    if (ownFields.has(field) || isUnread(request, field) || request[field] == null) continue;
    body[field] = request[field];
  }
  if (isUnread(request, "input")) {
    body.store = false;
    shareUnread(request, body, { isMarked: false } satisfies NativeContents);
    return body;
  }
  const { input } = request;
  const sent = items.map(({ item }) => presentNativeItem(item)).filter((item) => item !== null);
  body.input = Array.isArray(input) && isSame(sent, input) ? input : sent;
  body.store = false;
  shareText(request, body);
  return body;
}

function isSame(list: readonly unknown[], other: readonly unknown[]): boolean {
  return list.length === other.length && list.every((each, index) => each === other[index]);
}

/** The caller's path of `input[3].content` in a native request, which has the whole conversation. */
export function findNativePlace(param: string, items: readonly PlacedItem[]): string {
  const [, index, rest = ""] = /^input\[(\d+)\](.*)$/.exec(param) ?? [];
  const sent = index === undefined ? [] : items.filter(({ item }) => presentNativeItem(item) !== null);
  const found = sent[Number(index)];
  return found === undefined ? param : found.place + rest;
}

/** Items that need no id. Theirs may be one of ours, which the upstream does not know. */
const namelessItems: ReadonlySet<unknown> = new Set([
  ...[undefined, "message", "reasoning", "function_call", "function_call_output"],
  ...["custom_tool_call", "custom_tool_call_output", "tool_search_call", "tool_search_output"],
]);

/** Calls of the vendor's own tools keep the vendor's ids. Reasoning that the vendor cannot decrypt is dropped. */
function presentNativeItem(whole: JsonObject): JsonObject | null {
  const summary = whole.type === "compaction" ? readCompactionMark(whole.encrypted_content) : null;
  if (summary !== null) return { type: "message", role: "user", content: summary };
  if (!namelessItems.has(whole.type)) return whole;
  const item = whole.id === undefined ? whole : dropId(whole);
  if (item.type !== "reasoning") return item;
  const mark = item.encrypted_content;
  return typeof mark === "string" && readReasoningMark(mark) === null ? item : null;
}

function dropId({ id: _, ...item }: JsonObject): JsonObject {
  return item;
}
