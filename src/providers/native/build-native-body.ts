import { plainMarking } from "../cache-marks.ts";
import type { ChatCall, NativeRequest } from "../contract.ts";
import { markMessagesBody } from "../mark-messages-body.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";

type NativeOrder = Pick<ChatCall, "upstreamModel" | "outputTokensMax" | "cacheMarking"> & { native: NativeRequest };

/** The vendor's request: the caller's body, with what is ours to say put in its place. */
export function buildNativeBody(order: NativeOrder): string {
  const { native, upstreamModel, outputTokensMax, cacheMarking = plainMarking } = order;
  const { wire } = native;
  switch (wire) {
    case "messages": {
      const body = markMessagesBody(native.body, cacheMarking);
      return JSON.stringify({
        ...body,
        model: upstreamModel,
        max_tokens: outputTokensMax,
        ...limitThinking(body, outputTokensMax),
        messages: mendMessages(body.messages),
        // It speaks of ids of the vendor's, and callers know ours. What is undefined is left out of JSON.
        diagnostics: undefined,
      });
    }
    case "responses": {
      const { body } = native;
      return JSON.stringify({
        ...body,
        model: upstreamModel,
        max_output_tokens: outputTokensMax,
        // What is kept of an answer is kept here.
        store: false,
        background: undefined,
        conversation: undefined,
        previous_response_id: undefined,
        ...encryptReasoning(body),
      });
    }
  }
}

/** Anthropic takes no smaller budget. */
const thinkingTokensMin = 1024;
/** What thoughts leave to the answer itself. */
const answerTokensMin = 512;

/** Money may allow fewer tokens than the caller asked for; a budget that does not fit any more would be refused. */
function limitThinking(body: JsonRecord, outputTokensMax: number): { thinking?: JsonRecord | undefined } {
  const thinking = asRecord(body.thinking);
  const budget = thinking?.budget_tokens;
  const isShortened = typeof body.max_tokens === "number" && outputTokensMax < body.max_tokens;
  if (!isShortened || typeof budget !== "number" || budget < outputTokensMax) return {};
  const budgetTokens = outputTokensMax - answerTokensMin;
  // A short answer has no room for thoughts.
  return { thinking: budgetTokens < thinkingTokensMin ? undefined : { ...thinking, budget_tokens: budgetTokens } };
}

/** What follows in an id of a tool call is another upstream's (`thought-seal.ts`); Anthropic refuses an id with it. */
const idEnd = "~";

/** The same messages where no id of a tool call has to be shortened, as in nearly all requests. */
function mendMessages(messages: unknown): unknown {
  if (!Array.isArray(messages) || !messages.some(hasSealedId)) return messages;
  return messages.map((message: JsonRecord) =>
    hasSealedId(message) ? { ...message, content: (message.content as JsonRecord[]).map(mendBlock) } : message,
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

function mendBlock(block: JsonRecord): JsonRecord {
  const { id, tool_use_id: callId } = block;
  return {
    ...block,
    ...(isSealed(id) ? { id: id.slice(0, id.indexOf(idEnd)) } : {}),
    ...(isSealed(callId) ? { tool_use_id: callId.slice(0, callId.indexOf(idEnd)) } : {}),
  };
}

const encryptedReasoning = "reasoning.encrypted_content";

/** A vendor that keeps nothing knows thoughts again only by what it encrypted of them. */
function encryptReasoning({ reasoning, include }: JsonRecord): { include?: unknown[] } {
  const included = Array.isArray(include) ? include : [];
  if (asRecord(reasoning) === null || included.includes(encryptedReasoning)) return {};
  return { include: [...included, encryptedReasoning] };
}
