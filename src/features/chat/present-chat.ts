import { type Nano, nano, presentMoney } from "../../lib/money.ts";
import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import type { ChatPiece } from "../../providers/contract.ts";
import type { CallEnd, CallPresenter, StoppedBy } from "../calls/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import type { ChatMeter } from "./meter-chat.ts";
import type { ChargedUsage } from "./quote-chat.ts";

/** The fields around the choices of an answer and of each chunk. All are ours, none the upstream's. */
export type ChatEnvelope = { id: string; created: number; model: string };

const jsonType = "application/json; charset=utf-8";
const streamEnd = "data: [DONE]\n\n";

/** Derived from the request id, so that each can be found by the other. */
export function createEnvelope(requestId: string, model: string, now: Date): ChatEnvelope {
  return { id: `chatcmpl-${requestId.slice("req_".length)}`, created: Math.floor(now.getTime() / 1000), model };
}

/** Writes one chat answer in OpenAI's format. */
export class ChatPresenter implements CallPresenter<ChatKinds> {
  readonly form: "whole" | "events";
  readonly contentType: string;
  private readonly envelope: ChatEnvelope;
  private readonly meter: ChatMeter;
  private readonly includesUsage: boolean;
  private readonly start: string;
  private readonly end: string;

  /** With `includesUsage`, as requested by the caller, every chunk has the field. */
  constructor(
    envelope: ChatEnvelope,
    meter: ChatMeter,
    { isStreamed, includesUsage }: { isStreamed: boolean; includesUsage: boolean },
  ) {
    this.envelope = envelope;
    this.meter = meter;
    this.includesUsage = includesUsage;
    this.form = isStreamed ? "events" : "whole";
    this.contentType = isStreamed ? eventStreamHeaders["content-type"] : jsonType;
    // `join`, not `+`: V8 would keep a concatenated string as a tree of its parts for the whole stream.
    this.start = isStreamed ? ["data: ", presentHead(envelope, "chat.completion.chunk"), '"choices":'].join("") : "";
    this.end = includesUsage ? ',"usage":null}\n\n' : "}\n\n";
  }

  presentWhole({ answer, usage, settlement, stoppedBy }: CallEnd<ChatKinds>): string {
    const head = presentHead(this.envelope, "chat.completion");
    const usageText = presentUsage(usage, settlement.charge);
    return `${head}"choices":${answer?.choices ?? "[]"},"usage":${usageText}${presentStop(stoppedBy)}}`;
  }

  presentPieces(pieces: readonly ChatPiece[]): string {
    let events = "";
    for (const piece of pieces) events += this.presentPiece(piece.choices, this.meter.explainEnd(piece));
    return events;
  }

  presentCut(stoppedBy: StoppedBy | null): string {
    const ends = this.meter.listOpenChoices().map((index) => ({ index, delta: {}, finish_reason: "length" }));
    return this.presentPiece(JSON.stringify(ends), stoppedBy);
  }

  private presentPiece(choices: string, stoppedBy: StoppedBy | null): string {
    if (stoppedBy === null) return this.start + choices + this.end;
    return `${this.start}${choices}${this.includesUsage ? ',"usage":null' : ""}${presentStop(stoppedBy)}}\n\n`;
  }

  presentTail({ usage, settlement }: CallEnd<ChatKinds>): string {
    if (!this.includesUsage) return streamEnd;
    return `${this.start}[],"usage":${presentUsage(usage, settlement.charge)}}\n\n${streamEnd}`;
  }

  presentFailure(body: unknown): string {
    return `data: ${JSON.stringify(body)}\n\n`;
  }

  summarize({ usage, settlement }: CallEnd<ChatKinds>): string {
    const { inputTokens, outputTokens } = usage;
    const cost = presentMoney(settlement.charge);
    return `Its id is ${this.envelope.id}; it had ${inputTokens} prompt tokens and ${outputTokens} completion tokens and cost ${cost}.`;
  }
}

function presentHead({ id, created, model }: ChatEnvelope, object: string): string {
  return `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`;
}

function presentStop(stoppedBy: StoppedBy | null): string {
  return stoppedBy === null ? "" : `,"stopped_by":"${stoppedBy}"`;
}

/** Written by hand: every value is an integer, or text without characters to escape. */
export function presentUsage(usage: ChargedUsage, charge: Nano): string {
  const { inputTokens, outputTokens } = usage;
  const total = inputTokens + outputTokens;
  const input = `"cached_tokens":${usage.cachedInputTokens},"cache_write_tokens":${usage.cacheWriteTokens},"audio_tokens":${usage.inputAudioTokens}`;
  const output = `"reasoning_tokens":${usage.reasoningTokens},"audio_tokens":${usage.outputAudioTokens},"accepted_prediction_tokens":0,"rejected_prediction_tokens":0`;
  return `{"prompt_tokens":${inputTokens},"completion_tokens":${outputTokens},"total_tokens":${total},"prompt_tokens_details":{${input}},"completion_tokens_details":{${output}},${presentCost(usage, charge)}}`;
}

/**
 * The fields that every API adds to its vendor's `usage`: the charge, and what the cache saved. A call paid by a quota
 * saved no money.
 */
export function describeCost({ cacheSaving = nano(0n) }: ChargedUsage, charge: Nano) {
  const saving = cacheSaving === 0n || charge === 0n ? {} : { cache_saving: presentMoney(cacheSaving) };
  return { charge: presentMoney(charge), ...saving };
}

/** The same as the last fields of a JSON object. */
export function presentCost(usage: ChargedUsage, charge: Nano): string {
  return JSON.stringify(describeCost(usage, charge)).slice(1, -1);
}
