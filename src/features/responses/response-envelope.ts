import type { Nano } from "../../lib/money.ts";
import type { StoppedBy } from "../calls/index.ts";
import { type ChatKinds, presentCost } from "../chat/index.ts";
import type { ResponseRequest } from "./response-request.ts";

export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** The fields of a response that change while it runs. */
export type ResponseState = {
  status: ResponseStatus;
  /** Its items, as JSON. */
  output: string;
  /** Its usage as JSON, once known. */
  usage: string | null;
  error: { code: string; message: string } | null;
  incompleteReason: "max_output_tokens" | "content_filter" | null;
  stoppedBy: StoppedBy | null;
  completedAt: number | null;
  isStored: boolean;
  /** Its conversation, as JSON. */
  conversation: string;
};

export const begunState: ResponseState = {
  status: "in_progress",
  output: "[]",
  usage: null,
  error: null,
  incompleteReason: null,
  stoppedBy: null,
  completedAt: null,
  isStored: true,
  conversation: "null",
};

/** Derived from the request id, so that each can be found by the other. */
export function nameResponse(requestId: string): string {
  return `resp_${readSuffix(requestId)}`;
}

/** The id of the request that created a response. */
export function nameRequest(responseId: string): string {
  return `req_${readSuffix(responseId)}`;
}

/** The common part of the ids of a request, its response and the items of both. */
export function readSuffix(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** The constant fields of a response. All are ours or the caller's, none the upstream's. */
export class ResponseEnvelope {
  readonly id: string;
  readonly createdAt: number;
  private readonly head: string;
  private readonly request: ResponseRequest;
  private readonly model: string;
  /** Written when first needed: a vendor's own events need none of it. */
  private echo: string | null = null;

  constructor(request: ResponseRequest, { requestId, model, now }: { requestId: string; model: string; now: Date }) {
    this.id = nameResponse(requestId);
    this.createdAt = Math.floor(now.getTime() / 1000);
    this.head = `{"id":"${this.id}","object":"response","created_at":${this.createdAt},`;
    this.request = request;
    this.model = model;
  }

  present(state: ResponseState): string {
    const { status, output, usage, error, incompleteReason, stoppedBy, completedAt } = state;
    const { isStored, conversation } = state;
    this.echo ??= JSON.stringify(echoRequest(this.request, this.model)).slice(1);
    const details = incompleteReason === null ? "null" : `{"reason":"${incompleteReason}"}`;
    const stop = stoppedBy === null ? "" : `"stopped_by":"${stoppedBy}",`;
    return `${this.head}"status":"${status}","completed_at":${completedAt},"error":${JSON.stringify(error)},"incomplete_details":${details},"output":${output},"store":${isStored},"conversation":${conversation},"usage":${usage},${stop}${this.echo}`;
  }
}

/** The request's options that a response echoes, with defaults. */
function echoRequest(request: ResponseRequest, model: string) {
  const { reasoning, text } = request;
  return {
    model,
    background: request.background ?? false,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: request.service_tier ?? "default",
    temperature: request.temperature ?? null,
    text: {
      format: text?.format ?? { type: "text" },
      ...(text?.verbosity == null ? {} : { verbosity: text.verbosity }),
    },
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? null,
    truncation: request.truncation ?? "disabled",
    user: request.user ?? null,
  };
}

/** Written by hand: every value is an integer, or text without characters to escape. */
export function presentUsage(usage: ChatKinds["usage"], charge: Nano): string {
  const { inputTokens: input, outputTokens: output } = usage;
  const inputDetails = `{"cached_tokens":${usage.cachedInputTokens},"cache_write_tokens":${usage.cacheWriteTokens}}`;
  const outputDetails = `{"reasoning_tokens":${usage.reasoningTokens}}`;
  return `{"input_tokens":${input},"input_tokens_details":${inputDetails},"output_tokens":${output},"output_tokens_details":${outputDetails},"total_tokens":${input + output},${presentCost(usage, charge)}}`;
}
