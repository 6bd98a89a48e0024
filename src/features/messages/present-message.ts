import { presentMoney } from "../../lib/money.ts";
import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import type { ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { CallEnd, CallPresenter } from "../calls/index.ts";
import { type ChatKinds, describeCost } from "../chat/index.ts";
import { unsignedThinkingMark } from "./thinking-mark.ts";

/** The identity of a response. */
type MessageEnvelope = { id: string; model: string };

type ToolCall = { index?: number; id?: string; function?: { name?: string; arguments?: string } };

/** A chat message, or a delta of one. */
type ChatContent = {
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly ToolCall[];
  images?: readonly { image_url?: { url?: string } }[];
};

type Choice = { index: number; delta?: ChatContent; message?: ChatContent; finish_reason: string | null };

const jsonType = "application/json; charset=utf-8";

/** A content block that has started and not stopped. */
type OpenBlock = { index: number; kind: "text" | "thinking" | "tool_use"; head: string };

const deltaStart = "event: content_block_delta\n";
const deltas = {
  text: '"delta":{"type":"text_delta","text":"',
  thinking: '"delta":{"type":"thinking_delta","thinking":"',
  tool_use: '"delta":{"type":"input_json_delta","partial_json":"',
} as const;

const starts = {
  text: '{"type":"text","text":""}',
  thinking: '{"type":"thinking","thinking":"","signature":""}',
} as const;

/** Writes one answer in Anthropic's format. Forwards an upstream's own events if it has the same API. */
export class MessagePresenter implements CallPresenter<ChatKinds> {
  readonly form: "whole" | "events";
  readonly contentType: string;
  private readonly envelope: MessageEnvelope;
  private inputTokensLikely = 0;
  private hasBegun = false;
  private isNative = false;
  private blocks = 0;
  /** The current block, and earlier tool calls with incomplete arguments. */
  private open: OpenBlock | null = null;
  private readonly calls = new Map<number, { block: OpenBlock; written: string; isOpen: boolean }>();
  private hasCalled = false;
  private hasRefused = false;
  private finishReason: string | null = null;
  private stopSequence: string | null = null;

  constructor(envelope: MessageEnvelope, { isStreamed }: { isStreamed: boolean }) {
    this.envelope = envelope;
    this.form = isStreamed ? "events" : "whole";
    this.contentType = isStreamed ? eventStreamHeaders["content-type"] : jsonType;
  }

  /** The estimated input tokens for `message_start`; the last event has the real number. */
  expectInput(tokensLikely: number): void {
    this.inputTokensLikely = tokensLikely;
  }

  presentWhole({ answer, usage, settlement, stoppedBy }: CallEnd<ChatKinds>): string {
    const counts = { ...presentCounts(usage), ...describeCost(usage, settlement.charge) };
    const stopped = stoppedBy === null ? {} : { stopped_by: stoppedBy };
    if (answer?.nativeBody !== undefined) return JSON.stringify({ ...answer.nativeBody, usage: counts, ...stopped });
    const [choice] = JSON.parse(answer?.choices ?? "[]") as Choice[];
    const { message = {}, finish_reason: reason = null } = choice ?? {};
    this.finishReason = reason;
    this.stopSequence = answer?.stopSequence ?? null;
    const content = this.listContent(message);
    return JSON.stringify({
      ...describeMessage(this.envelope),
      content,
      ...this.describeStop(),
      usage: { ...emptyUsage, ...counts },
      ...stopped,
    });
  }

  private listContent(message: ChatContent): object[] {
    const { reasoning_content: thinking, tool_calls: calls = [], images = [] } = message;
    const text = this.takeText(message);
    return [
      ...(thinking ? [{ type: "thinking", thinking, signature: unsignedThinkingMark }] : []),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...images.map(presentImage),
      ...calls.map((call, index) => {
        const written = call.function?.arguments ?? "";
        const block = this.startCall(index, call);
        return { ...block, input: written.trim() === "" ? {} : parseInput(written) };
      }),
    ];
  }

  /** A refusal is sent as text. */
  private takeText({ content, refusal }: ChatContent): string {
    if (refusal) this.hasRefused = true;
    return (content ?? "") + (refusal ?? "");
  }

  presentPieces(pieces: readonly ChatPiece[]): string {
    let events = "";
    for (const piece of pieces) {
      if (piece.nativeEvents !== undefined) events += this.takeNative(piece.nativeEvents);
      else if (piece.soleField !== undefined) events += this.write(kinds[piece.soleField], piece.text, piece);
      else events += this.takeChoices(JSON.parse(piece.choices) as Choice[], piece);
    }
    return events;
  }

  private takeNative(events: string): string {
    this.isNative = true;
    this.hasBegun = true;
    // Most are deltas, which neither start nor stop a block.
    if (events.startsWith(deltaStart)) return events;
    const started = /event: content_block_start\ndata: .*?"index":\s*(\d+)/.exec(events);
    if (started !== null) this.open = { index: Number(started[1]), kind: "text", head: "" };
    if (events.lastIndexOf("event: content_block_stop\n") > (started?.index ?? -1)) this.open = null;
    return events;
  }

  private takeChoices(choices: readonly Choice[], piece: ChatPiece): string {
    let events = "";
    for (const { index, delta = {}, finish_reason: reason } of choices) {
      if (index !== 0) continue;
      const { reasoning_content: thinking } = delta;
      if (thinking) events += this.write("thinking", escapeText(thinking), piece);
      const text = this.takeText(delta);
      if (text !== "") events += this.write("text", escapeText(text), piece);
      for (const image of delta.images ?? []) events += this.writeImage(presentImage(image), piece);
      for (const call of delta.tool_calls ?? []) events += this.writeCall(call, piece);
      if (reason === null) continue;
      this.finishReason = reason;
      this.stopSequence = piece.stopSequence ?? null;
      events += this.begin(piece.usage) + this.closeAll();
    }
    return events;
  }

  /** Appends JSON-escaped text to the current block, or starts a new one. */
  private write(kind: "text" | "thinking", text: string, { usage }: ChatPiece): string {
    if (this.open?.kind === kind) return `${this.open.head}${text}"}}\n\n`;
    const events = this.begin(usage) + this.close();
    this.open = this.createBlock(kind);
    return `${events}${presentStart(this.open.index, starts[kind])}${this.open.head}${text}"}}\n\n`;
  }

  /** A block that arrives complete. */
  private writeImage(image: object, { usage }: ChatPiece): string {
    const events = this.begin(usage) + this.close();
    const block = this.createBlock("text");
    return `${events}${presentStart(block.index, JSON.stringify(image))}${presentStop(block)}`;
  }

  private writeCall(call: ToolCall, { usage }: ChatPiece): string {
    const position = call.index ?? 0;
    const known = this.calls.get(position);
    const written = call.function?.arguments ?? "";
    if (known !== undefined) {
      known.written += written;
      return written === "" || !known.isOpen ? "" : `${known.block.head}${escapeText(written)}"}}\n\n`;
    }
    const events = this.begin(usage) + this.close();
    const block = this.createBlock("tool_use");
    this.open = block;
    this.calls.set(position, { block, written, isOpen: true });
    const start = presentStart(block.index, JSON.stringify(this.startCall(position, call)));
    return `${events}${start}${written === "" ? "" : `${block.head}${escapeText(written)}"}}\n\n`}`;
  }

  private startCall(position: number, { id, function: called }: ToolCall) {
    const own = id === undefined || id === "" ? `toolu_${this.envelope.id.slice("msg_".length)}_${position}` : id;
    this.hasCalled = true;
    return { type: "tool_use", id: own, name: called?.name ?? "", input: {}, caller: { type: "direct" } };
  }

  private createBlock(kind: OpenBlock["kind"]): OpenBlock {
    const index = this.blocks;
    this.blocks += 1;
    // `join`, not `+`: V8 would keep a concatenated string as a tree of its parts for the whole block.
    const head = [
      "event: content_block_delta\n",
      `data: {"type":"content_block_delta","index":${index},`,
      deltas[kind],
    ];
    return { index, kind, head: head.join("") };
  }

  private begin(usage: ChatUsage | undefined): string {
    if (this.hasBegun) return "";
    this.hasBegun = true;
    const early = usage === undefined ? { input_tokens: this.inputTokensLikely } : presentCounts(usage);
    const message = { ...describeMessage(this.envelope), usage: { ...emptyUsage, ...early, output_tokens: 0 } };
    return `${presentEvent("message_start", { message })}event: ping\ndata: {"type":"ping"}\n\n`;
  }

  /** Stops the current block, unless it is a tool call whose arguments may continue interleaved with others. */
  private close(): string {
    const { open } = this;
    if (open === null) return "";
    this.open = null;
    const call = [...this.calls.values()].find(({ block }) => block === open);
    if (call === undefined) return presentStop(open);
    if (!isComplete(call.written)) return "";
    call.isOpen = false;
    return presentStop(open);
  }

  private closeAll(): string {
    let events = this.isNative && this.open !== null ? presentStop(this.open) : this.close();
    for (const call of this.calls.values()) {
      if (call.isOpen) events += presentStop(call.block);
      call.isOpen = false;
    }
    this.open = null;
    return events;
  }

  /** The tail ends the message. */
  presentCut(): string {
    const events = this.begin(undefined) + this.closeAll();
    this.finishReason = "length";
    this.isNative = false;
    return events;
  }

  presentTail({ usage, settlement, stoppedBy }: CallEnd<ChatKinds>): string {
    // All of the vendor's events except the last were already sent.
    if (this.isNative) return presentEvent("message_stop", { usage: describeCost(usage, settlement.charge) });
    const delta = { ...this.describeStop(), container: null };
    const stopped = stoppedBy === null ? {} : { stopped_by: stoppedBy };
    const finalUsage = { ...emptyUsage, ...presentCounts(usage), ...describeCost(usage, settlement.charge) };
    return `${presentEvent("message_delta", { delta, usage: finalUsage, ...stopped })}${presentEvent("message_stop", {})}`;
  }

  presentFailure(body: unknown): string {
    return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  }

  summarize({ usage: { inputTokens, outputTokens }, settlement }: CallEnd<ChatKinds>): string {
    return `Its id is ${this.envelope.id}; it had ${inputTokens} input tokens and ${outputTokens} output tokens and cost ${presentMoney(settlement.charge)}.`;
  }

  private describeStop() {
    const { hasCalled, hasRefused, stopSequence } = this;
    const reason = decideStopReason(this.finishReason, { hasCalled, hasRefused, stopSequence });
    const details = reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null;
    const stop_sequence = reason === "stop_sequence" ? stopSequence : null;
    return { stop_reason: reason, stop_sequence, stop_details: details };
  }
}

/** A data URL as an image block, in the format that callers send. */
function presentImage({ image_url: { url = "" } = {} }: { image_url?: { url?: string } }) {
  const [, media_type = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: "image", source: { type: "base64", media_type, data } };
}

const kinds = { content: "text", reasoning_content: "thinking" } as const;

/** Maps chat's finish reason. Not every upstream reports which stop sequence matched. */
function decideStopReason(
  reason: string | null,
  { hasCalled, hasRefused, stopSequence }: { hasCalled: boolean; hasRefused: boolean; stopSequence: string | null },
) {
  if (reason === "content_filter" || hasRefused) return "refusal";
  if (reason === "length") return "max_tokens";
  if (hasCalled) return "tool_use";
  return stopSequence === null ? "end_turn" : "stop_sequence";
}

function describeMessage({ id, model }: MessageEnvelope) {
  return {
    ...{ id, type: "message", role: "assistant", model, content: [] as object[] },
    ...{ stop_reason: null, stop_sequence: null, stop_details: null, container: null, diagnostics: null },
  };
}

const emptyUsage = {
  ...{ input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens_details: { thinking_tokens: 0 },
  ...{ server_tool_use: null, service_tier: "standard", inference_geo: null, speed: "standard" },
};

/** Anthropic counts cached input separately from `input_tokens`. */
function presentCounts(usage: ChatUsage) {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
  };
}

function presentEvent(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function presentStart(index: number, block: string): string {
  return `event: content_block_start\ndata: {"type":"content_block_start","index":${index},"content_block":${block}}\n\n`;
}

/** A thinking block ends with a placeholder for its signature. */
function presentStop({ index, kind }: OpenBlock): string {
  const signature =
    kind === "thinking"
      ? presentEvent("content_block_delta", {
          index,
          delta: { type: "signature_delta", signature: unsignedThinkingMark },
        })
      : "";
  return `${signature}event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
}

/** JSON-escaped, without the quotes. */
function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Arguments that are not valid JSON are passed on: the tool can report what is wrong. */
function parseInput(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

/** Whether the arguments are complete JSON. */
function isComplete(written: string): boolean {
  return typeof parseInput(written) === "object" && written.trim() !== "";
}
