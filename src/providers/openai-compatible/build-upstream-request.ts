import { writeObject } from "../../lib/json-text.ts";
import { areCopies, isUnread, pickRead, writeWithUnread } from "../../lib/unread-json.ts";
import { findContents } from "../chat-contents.ts";
import { type ChatMessage, type ChatRequest, echoedFields, isNeutral } from "../chat-request.ts";
import type { ChatCall } from "../contract.ts";
import type { OutputCapField, SystemRole } from "./dialects/chat-dialect.ts";
import type { CompiledDialect } from "./dialects/compile-dialect.ts";
import { restoreReasoningDetails } from "./reasoning-details.ts";

/** How an upstream differs from OpenAI's API, from the catalog. */
export type UpstreamQuirks = {
  outputCapField: OutputCapField;
  /** Whether `stream_options` may ask for the usage of a stream. */
  asksStreamUsage: boolean;
  systemRole: SystemRole;
  /** Request fields that it rejects. */
  unsupportedFields: readonly string[];
  /** Fields outside OpenAI's API that it supports. */
  vendorFields: ReadonlySet<string>;
  /** Everything else that differs; `null` for servers without a dialect. */
  dialect: CompiledDialect | null;
};

/** Hints that do not affect the answer: not sent to upstreams that do not support them. */
const hints: ReadonlySet<string> = new Set(["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"]);

export function isRequested(request: ChatRequest, field: string): boolean {
  return !hints.has(field) && !isNeutral(field, request[field]);
}

/** Whether to request a stream: the caller wants one, or we may have to stop the answer at the cap. */
export function isStreamNeeded(request: ChatRequest, { outputCapField }: UpstreamQuirks): boolean {
  return request.stream === true || outputCapField === "none";
}

/**
 * The request for the upstream: the caller's fields, with our model and cap. Of `echoedFields`, `cache_control` among
 * them, only those in the route's `passthrough` are passed on.
 */
export function buildUpstreamBody(
  { request, upstreamModel, outputTokensMax, passthrough = [] }: ChatCall,
  quirks: UpstreamQuirks,
): string | Buffer {
  const isStreamed = isStreamNeeded(request, quirks);
  const isCopied = canCopy(request, quirks);
  const body: Record<string, unknown> = {
    ...(isCopied ? pickRead(request) : request),
    model: upstreamModel,
    // `undefined` is not written.
    max_tokens: undefined,
    max_completion_tokens: undefined,
    stream: isStreamed ? true : (request.stream ?? undefined),
    stream_options: isStreamed && quirks.asksStreamUsage ? { include_usage: true } : undefined,
  };
  if (!isCopied) addContents(body, request, { passthrough, quirks });
  if (quirks.outputCapField !== "none") body[quirks.outputCapField] = outputTokensMax;
  // Only defaults and hints are left in these.
  for (const field of quirks.unsupportedFields) body[field] = undefined;
  quirks.dialect?.write(body, passthrough);
  return isCopied ? writeWithUnread(body, request) : writeObject(body);
}

/** Whether messages and tools can be sent as they were received. */
function canCopy(request: ChatRequest, { dialect, systemRole, unsupportedFields }: UpstreamQuirks): boolean {
  const contents = findContents(request);
  if (contents === null || !areCopies(request) || dialect !== null) return false;
  if (unsupportedFields.some((field) => isUnread(request, field))) return false;
  return systemRole === "as-sent" || !contents.hasDeveloper;
}

function addContents(
  body: Record<string, unknown>,
  request: ChatRequest,
  { passthrough, quirks }: { passthrough: readonly string[]; quirks: UpstreamQuirks },
): void {
  const foreign = echoedFields.filter((field) => !passthrough.includes(field) && !quirks.vendorFields.has(field));
  const messages = dropForeign(request.messages, foreign);
  body.messages = quirks.systemRole === "system" ? messages.map(toSystemMessage) : messages;
  if (request.tools !== undefined) body.tools = dropForeign(request.tools, foreign);
}

type Echoing = { [field in (typeof echoedFields)[number]]?: unknown } & { content?: unknown };

/** Removes fields that this upstream would reject; returns the same array if there are none. */
function dropForeign<T extends object>(items: T[], foreign: readonly string[]): T[] {
  return items.some(isEchoing) ? items.map((item) => dropForeignFields(item, foreign)) : items;
}

/** A quick check by name: most requests have none of them. */
function isEchoing(item: Echoing): boolean {
  if (item.reasoning !== undefined || item.reasoning_content !== undefined) return true;
  if (item.reasoning_details !== undefined || item.cache_control !== undefined) return true;
  if (item.prefix !== undefined) return true;
  return Array.isArray(item.content) && item.content.some(isEchoing);
}

function dropForeignFields<T extends Echoing>(item: T, foreign: readonly string[]): T {
  const cleaned: Record<string, unknown> = { ...item };
  for (const field of foreign) delete cleaned[field];
  const { reasoning_details: details } = cleaned;
  if (Array.isArray(details)) cleaned.reasoning_details = restoreReasoningDetails(details);
  if (Array.isArray(item.content)) cleaned.content = dropForeign(item.content, foreign);
  return cleaned as T;
}

function toSystemMessage(message: ChatMessage): ChatMessage {
  return message.role === "developer" ? { ...message, role: "system" } : message;
}
