import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatMessage, ChatRequest } from "../../providers/chat-request.ts";
import type { ChatObstacle, NativeRequest } from "../../providers/contract.ts";
import { isCallersTool } from "../../providers/native/find-native-obstacle.ts";
import { chatFields } from "../chat/index.ts";
import { type PlacedItem, readInput } from "./read-input.ts";
import { readTools } from "./read-tools.ts";
import { readReasoningMark } from "./reasoning-mark.ts";
import { isObject, type JsonObject, type ResponseRequest } from "./response-request.ts";
import { responseRequestSchema } from "./response-request-schema.ts";

const jsonDepthMax = 64;

/** A request in the form of chat, and what was lost on the way. */
export type ReadRequest = {
  chat: ChatRequest;
  /** Where each of the messages stands in the caller's request. */
  places: readonly string[];
  obstacle: ChatObstacle | null;
  /** So many parts of it lie elsewhere, and may be far longer than what names them. */
  references: number;
};

/** The items that a request itself has. */
export function listOwnItems({ input }: ResponseRequest): PlacedItem[] {
  if (input == null) return [];
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  return items.map((item, index) => ({ item, place: typeof input === "string" ? "input" : `input[${index}]` }));
}

/** Fields of which this gateway has nothing to offer, and that name things of an account with somebody else. */
const absentFields = {
  prompt: "Prompts are not stored here: send `instructions` and `input`.",
} as const;

/** The conversation that a request names, by its id alone or as an object. */
export function readConversationId({ conversation }: ResponseRequest): string | null {
  if (conversation == null) return null;
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id === "string") return id;
  throw new AppError("invalid_parameter", "`conversation.id` must be a text.", { param: "conversation.id" });
}

/** Fields that only an upstream that speaks this wire understands. */
const nativeFields = ["context_management", "access_programs", "image"] as const;

/** Of the fields that mean the same in both forms. */
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

/** Says in the form of chat what a request asks for; `items` are all of the conversation. Throws what is wrong with it. */
export function readResponseRequest(request: ResponseRequest, items: readonly PlacedItem[]): ReadRequest {
  checkDepth(request);
  for (const [field, message] of Object.entries(absentFields)) {
    if (request[field] != null) throw new AppError("unsupported_capability", message, { param: field });
  }
  const { instructions } = request;
  const input = readInput(items);
  const { obstacle: toolObstacle, ...tools } = readTools(request);
  const references = input.references + (request.tools ?? []).filter(isHosted).length;
  const hasInstructions = typeof instructions === "string" && instructions !== "";
  const preface: ChatMessage[] = hasInstructions ? [{ role: "system", content: instructions }] : [];
  const messages = [...preface, ...input.messages];
  const obstacle = input.obstacle ?? toolObstacle ?? findNativeField(request);
  if (messages.length === 0 && obstacle === null) {
    throw new AppError("missing_parameter", "`input` is missing, or has nothing in it.", { param: "input" });
  }
  const chat: ChatRequest = {
    model: request.model,
    messages,
    ...tools,
    ...readOptions(request),
    ...readFormat(request),
    ...readLogprobs(request),
  };
  addForeignFields(chat, request);
  return { chat, places: [...preface.map(() => "instructions"), ...input.places], obstacle, references };
}

/** A field that is unknown here goes only where a route of the model names it, which is looked at with those of chat. */
function addForeignFields(chat: ChatRequest, request: ResponseRequest): void {
  for (const field in request) {
    if (Object.hasOwn(responseRequestSchema.properties, field)) continue;
    if (Object.hasOwn(chatFields, field)) {
      throw new AppError("unknown_parameter", `\`${field}\` is not a field of this endpoint.`, { param: field });
    }
    chat[field] = request[field];
  }
}

/** A hosted tool adds input of unknown size. */
function isHosted({ type }: JsonObject): boolean {
  return typeof type === "string" && !isCallersTool(type);
}

function checkDepth(request: ResponseRequest): void {
  for (const field in request) checkFieldDepth(field, request[field]);
}

/** What is nested deeper would be more than a stack can take, here or where it is sent. */
export function checkFieldDepth(param: string, value: unknown): void {
  if (!isDeeper(value, jsonDepthMax)) return;
  throw new AppError("invalid_parameter", `\`${param}\` is nested more than ${jsonDepthMax} levels deep.`, { param });
}

/** Goes down no further than so many levels, so that no nesting is too deep for it. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((each: unknown) => isDeeper(each, levels - 1));
  const record = value as JsonObject;
  for (const field in record) if (isDeeper(record[field], levels - 1)) return true;
  return false;
}

function findNativeField(request: ResponseRequest): ChatObstacle | null {
  const field = nativeFields.find((name) => {
    const value = request[name];
    return value != null && !(Array.isArray(value) && value.length === 0);
  });
  if (field !== undefined) return { param: field, message: `\`${field}\` cannot be used with this model.` };
  const mode = request.reasoning?.mode ?? "standard";
  if (mode === "standard") return null;
  return { param: "reasoning.mode", message: `The mode ${mode} cannot be used with this model.` };
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
    throw refuse("text.format.type", "`text.format.type` is text, json_object or json_schema.");
  }
  const { name, schema, description, strict } = format;
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw refuse("text.format.name", "`text.format.name` has 1 to 64 letters, digits, underscores or dashes.");
  }
  if (!isObject(schema)) throw refuse("text.format.schema", "`text.format.schema` is a schema.");
  if (strict != null && typeof strict !== "boolean") {
    throw refuse("text.format.strict", "`text.format.strict` is true or false.");
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

/** Fields that are between the caller and this gateway. */
const ownFields: ReadonlySet<string> = new Set([
  "previous_response_id",
  "conversation",
  "background",
  "client_metadata",
  "input",
]);

/**
 * The request as an upstream of the same wire takes it: with all of the conversation in it, and nothing that would have to
 * be remembered there.
 */
export function writeNativeBody(request: ResponseRequest, items: readonly PlacedItem[]): NativeRequest["body"] {
  const body: Record<string, unknown> = {};
  for (const field in request) if (!ownFields.has(field) && request[field] != null) body[field] = request[field];
  body.input = items.flatMap(({ item }) => presentNativeItem(item) ?? []);
  body.store = false;
  return body;
}

/** Items that need no id, and whose id may be one of ours: an upstream that keeps nothing would look for it in vain. */
const namelessItems: ReadonlySet<unknown> = new Set([
  ...[undefined, "message", "reasoning", "function_call", "function_call_output"],
  ...["custom_tool_call", "custom_tool_call_output"],
]);

/** Calls of the vendor's own tools go back under the ids it gave them; thoughts that it cannot open are none to it. */
function presentNativeItem(whole: JsonObject): JsonObject | null {
  if (!namelessItems.has(whole.type)) return whole;
  const { id: _, ...item } = whole;
  if (item.type !== "reasoning") return item;
  const mark = item.encrypted_content;
  return typeof mark === "string" && readReasoningMark(mark) === null ? item : null;
}
