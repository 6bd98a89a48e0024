import { writeObject } from "../../lib/json-text.ts";
import { pickRead, writeWithUnread } from "../../lib/unread-json.ts";
import { defaultCacheControl } from "../cache-control.ts";
import { findNativeContents } from "../chat-contents.ts";
import type { ChatCall, NativeRequest } from "../contract.ts";
import { forwardMessagesCacheControl } from "../messages-cache-control.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";

type NativeOrder = Pick<ChatCall, "upstreamModel" | "outputTokensMax" | "cacheControl"> & {
  native: NativeRequest;
  asksStreamUsage?: boolean;
};

/** The request for the vendor: the caller's body, with our model, limits and storage options. */
export function buildNativeBody(order: NativeOrder): string | Buffer {
  const { native, upstreamModel, outputTokensMax, cacheControl = defaultCacheControl, asksStreamUsage = true } = order;
  const { wire } = native;
  switch (wire) {
    case "messages": {
      const body = forwardMessagesCacheControl(native.body, cacheControl);
      const changed = {
        model: upstreamModel,
        max_tokens: outputTokensMax,
        ...limitThinking(body, outputTokensMax),
        // Refers to the vendor's ids, which callers do not have. `undefined` is not written.
        diagnostics: undefined,
      };
      // No id of an outline has to be shortened.
      if (findNativeContents(body) !== null) return writeWithUnread({ ...pickRead(body), ...changed }, body);
      return writeObject({ ...body, ...changed, messages: shortenCallIds(body.messages) });
    }
    case "responses": {
      const { body } = native;
      const changed = {
        model: upstreamModel,
        max_output_tokens: outputTokensMax,
        // Responses are stored here, not at the vendor.
        store: false,
        background: undefined,
        conversation: undefined,
        previous_response_id: undefined,
        ...encryptReasoning(body),
      };
      if (findNativeContents(body) !== null) return writeWithUnread({ ...pickRead(body), ...changed }, body);
      return writeObject({ ...body, ...changed });
    }
    case "completions":
      return writeObject({
        ...native.body,
        model: upstreamModel,
        max_tokens: outputTokensMax,
        // `undefined` is not written.
        stream_options: native.body.stream === true && asksStreamUsage ? { include_usage: true } : undefined,
      });
  }
}

/** Anthropic's minimum thinking budget. */
const thinkingTokensMin = 1024;
/** Tokens that thinking must leave for the answer. */
const answerTokensMin = 512;

/**
 * The balance may allow fewer tokens than the caller requested, and Anthropic rejects a thinking budget that does not
 * fit.
 */
function limitThinking(body: JsonRecord, outputTokensMax: number): { thinking?: JsonRecord | undefined } {
  const thinking = asRecord(body.thinking);
  const budget = thinking?.budget_tokens;
  const isShortened = typeof body.max_tokens === "number" && outputTokensMax < body.max_tokens;
  if (!isShortened || typeof budget !== "number" || budget < outputTokensMax) return {};
  const budgetTokens = outputTokensMax - answerTokensMin;
  // A short answer has no room for thinking.
  return { thinking: budgetTokens < thinkingTokensMin ? undefined : { ...thinking, budget_tokens: budgetTokens } };
}

/**
 * The rest of a tool call id is another upstream's sealed reasoning (`thought-seal.ts`). Anthropic rejects such an id.
 */
const idEnd = "~";

/** Shortens tool call ids; returns the same array if none needs it, as in nearly all requests. */
function shortenCallIds(messages: unknown): unknown {
  if (!Array.isArray(messages) || !messages.some(hasSealedId)) return messages;
  return messages.map((message: JsonRecord) =>
    hasSealedId(message) ? { ...message, content: (message.content as JsonRecord[]).map(shortenCallId) } : message,
  );
}

function hasSealedId(message: { content?: unknown } | null): boolean {
  const content = message?.content;
  if (!Array.isArray(content)) return false;
  for (const block of content) if (isSealed(block?.id) || isSealed(block?.tool_use_id)) return true;
  return false;
}

function isSealed(id: unknown): id is string {
  return typeof id === "string" && id.includes(idEnd);
}

function shortenCallId(block: JsonRecord): JsonRecord {
  const { id, tool_use_id: callId } = block;
  return {
    ...block,
    ...(isSealed(id) ? { id: id.slice(0, id.indexOf(idEnd)) } : {}),
    ...(isSealed(callId) ? { tool_use_id: callId.slice(0, callId.indexOf(idEnd)) } : {}),
  };
}

const encryptedReasoning = "reasoning.encrypted_content";

/** A vendor that stores nothing needs its encrypted reasoning back. */
function encryptReasoning({ reasoning, include }: JsonRecord): { include?: unknown[] } {
  const included = Array.isArray(include) ? include : [];
  if (asRecord(reasoning) === null || included.includes(encryptedReasoning)) return {};
  return { include: [...included, encryptedReasoning] };
}
