import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { classifyErrorBody } from "../ai-sdk/convert-error.ts";
import { convertAnthropicUsage } from "../ai-sdk/convert-usage.ts";
import type { ChatAnswer, ChatUsage, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import type { ErrorReader, Outlet } from "../openai-compatible/outlet.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import {
  cleanBlock,
  cleanMessage,
  cleanMessageUsage,
  cleanStop,
  isBlockContent,
  readFinishReason,
  readWritten,
} from "./clean-message.ts";
import { DeltaTemplate, type HoleKey, unescapeText } from "./delta-template.ts";
import {
  createContentPiece,
  createFinalPiece,
  createUnfinishedPiece,
  formatEvent,
  isEventType,
  keepKnownFields,
  pick,
  presentMeteredChoice,
} from "./native-events.ts";
import { Opening } from "./opening.ts";
import { createNativeStreamReader, createNativeWholeReader, type EventConverter } from "./read-native-answer.ts";
import { createVendorNames, type VendorNames } from "./vendor-names.ts";

type MessageConverterOptions = {
  outlet: Outlet;
  errors: ErrorReader;
  envelope: NativeRequest["envelope"];
  names: VendorNames;
};

const ping = writeEvent({ type: "ping" });
const deltaHead = "event: content_block_delta\ndata: ";
const deltaKeys: readonly HoleKey[] = [
  ['"text":"', "text"],
  ['"thinking":"', "text"],
  ['"partial_json":"', "text"],
];
const blockFields: ReadonlySet<string> = new Set(["type", "index", "content_block", "delta"]);

/** Reads responses of Anthropic's Messages API for a caller of the same API. */
export function createMessagesForm({ clock, host }: { clock: Clock; host: string }): AnswerForm {
  return {
    createReader({ call, outlet, errors }) {
      const { native, request } = call;
      invariant(native !== undefined, "only native requests get native answers");
      const { envelope } = native;
      if (request.stream !== true) {
        return createNativeWholeReader({ outlet, errors, convert: (answer) => convertMessage(answer, envelope) });
      }
      const names = createVendorNames(call, host);
      return createNativeStreamReader(outlet, new MessageConverter({ outlet, errors, envelope, names }));
    },

    readError: (refusal) => classifyErrorBody(refusal, clock.now()),
  };
}

function convertMessage(answer: JsonRecord, envelope: NativeRequest["envelope"]): ChatAnswer | null {
  const { content } = answer;
  if (answer.type !== "message" || !Array.isArray(content) || typeof answer.stop_reason !== "string") return null;
  return {
    choices: presentMeteredChoice(readFinishReason(answer.stop_reason)),
    text: content.map((block) => readWritten(asRecord(block))).join(""),
    ...(content.some((block) => isBlockContent(asRecord(block))) ? { isContent: true } : {}),
    usage: convertAnthropicUsage(answer.usage),
    nativeBody: cleanMessage(answer, envelope),
  };
}

/**
 * Converts the events of a message. Block events are forwarded as received, the envelope is rewritten. The last event,
 * `message_stop`, is withheld: the presenter sends it after the settlement. A class, to save memory: there is one per
 * stream.
 */
class MessageConverter implements EventConverter {
  private readonly options: MessageConverterOptions;
  private readonly opening: Opening;
  private readonly template = new DeltaTemplate();
  /** The usage so far: later values replace earlier ones. */
  private counted: JsonRecord | null = null;
  private hasStopReason = false;

  constructor(options: MessageConverterOptions) {
    this.options = options;
    this.opening = new Opening(options.outlet);
  }

  hasFinished(): boolean {
    return this.hasStopReason;
  }

  usage(): ChatUsage | null {
    return this.counted === null ? null : convertAnthropicUsage(this.counted);
  }

  convertKnown(text: string, from: number, to: number): boolean {
    const known = this.template.recognise(text, from, to);
    if (known === null) return false;
    this.opening.push(createUnfinishedPiece(unescapeText(known.text), `${deltaHead}${text.slice(from, to)}\n\n`));
    return true;
  }

  take(event: JsonRecord, data: string): void {
    const { outlet, errors, names } = this.options;
    switch (event.type) {
      case "content_block_delta":
        if (this.takeBlock(event, data, readWritten(asRecord(event.delta)))) this.template.learn(data, deltaKeys);
        break;
      case "content_block_start":
        this.startBlock(asRecord(event.content_block), event, data);
        break;
      case "content_block_stop":
        this.takeBlock(event, data, "");
        break;
      case "ping":
        this.opening.hold(createUnfinishedPiece("", ping));
        break;
      case "message_start":
        this.begin(asRecord(event.message) ?? {});
        break;
      case "message_delta":
        this.takeDelta(asRecord(event.delta) ?? {}, event);
        break;
      case "message_stop":
        // Without a stop reason the message is incomplete.
        if (this.hasStopReason) outlet.end(this.usage());
        break;
      case "error":
        outlet.fail(errors.readError(event));
        break;
      default:
        if (isEventType(event.type) && !names.areIn(data)) {
          this.opening.hold(createUnfinishedPiece("", formatEvent(event.type, data)));
        }
    }
  }

  /** Returns whether it was forwarded as received. */
  private takeBlock(event: JsonRecord, data: string, text: string): boolean {
    const kept = keepKnownFields(event, blockFields, data);
    this.opening.push(createUnfinishedPiece(text, formatEvent(String(event.type), kept)));
    return kept === data;
  }

  private startBlock(block: JsonRecord | null, event: JsonRecord, data: string): void {
    const create = isBlockContent(block) ? createContentPiece : createUnfinishedPiece;
    const cleaned = cleanBlock(block);
    const kept =
      cleaned === block
        ? keepKnownFields(event, blockFields, data)
        : JSON.stringify({ type: event.type, index: event.index, content_block: cleaned });
    this.opening.push(create(readWritten(block), formatEvent("content_block_start", kept)));
  }

  private begin(message: JsonRecord): void {
    const { envelope, names } = this.options;
    names.add(message.id);
    names.add(message.model);
    this.note(asRecord(message.usage));
    const begun = { ...cleanMessage(message, envelope), usage: cleanMessageUsage(this.counted ?? {}) };
    const piece = createUnfinishedPiece("", writeEvent({ type: "message_start", message: begun }));
    const usage = this.usage();
    this.opening.hold(usage === null ? piece : { ...piece, usage });
  }

  private takeDelta(delta: JsonRecord, event: JsonRecord): void {
    this.note(asRecord(event.usage));
    const told = writeEvent({
      type: "message_delta",
      delta: { ...cleanStop(delta), ...pick(delta, ["container"]) },
      usage: cleanMessageUsage(this.counted ?? {}),
      ...pick(event, ["context_management"]),
    });
    const isEnd = typeof delta.stop_reason === "string";
    const piece = isEnd ? createFinalPiece(readFinishReason(delta.stop_reason), told) : createUnfinishedPiece("", told);
    if (isEnd) this.hasStopReason = true;
    const usage = this.usage();
    this.opening.push(usage === null ? piece : { ...piece, usage });
  }

  /** `null` means reported before, or not at all. */
  private note(usage: JsonRecord | null): void {
    if (usage === null) return;
    const told = Object.entries(usage).filter(([, count]) => count !== null && count !== undefined);
    this.counted = { ...this.counted, ...Object.fromEntries(told) };
  }
}

function writeEvent(event: { type: string } & Record<string, unknown>): string {
  return formatEvent(event.type, JSON.stringify(event));
}
