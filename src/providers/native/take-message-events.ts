import { convertAnthropicUsage } from "../ai-sdk/convert-usage.ts";
import type { ChatUsage, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import type { ErrorReader, Outlet } from "../openai-compatible/outlet.ts";
import {
  cleanMessage,
  cleanMessageUsage,
  cleanStop,
  isBlockContent,
  readFinishReason,
  readWritten,
} from "./clean-message.ts";
import { DeltaTemplate, type HoleKey, unescapeText } from "./delta-template.ts";
import {
  createContent,
  createEnding,
  createGoingOn,
  formatEvent,
  isEventType,
  keepKnownFields,
  pick,
} from "./native-events.ts";
import { Opening } from "./opening.ts";
import type { EventTaker } from "./read-native-answer.ts";
import type { VendorNames } from "./vendor-names.ts";

type MessageTakerOptions = {
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

export function createMessageTaker(options: MessageTakerOptions): EventTaker {
  return new MessageTaker(options);
}

/**
 * The events of a message. Those of its blocks go through as they came; what stands around them is written anew. The last,
 * `message_stop`, is not told: the answer is over when it is paid for. A class, because there is one for each stream.
 */
class MessageTaker implements EventTaker {
  private readonly options: MessageTakerOptions;
  private readonly opening: Opening;
  private readonly template = new DeltaTemplate();
  /** All that was counted so far: later counts are in place of earlier ones. */
  private counted: JsonRecord | null = null;
  private hasStopReason = false;

  constructor(options: MessageTakerOptions) {
    this.options = options;
    this.opening = new Opening(options.outlet);
  }

  hasFinished(): boolean {
    return this.hasStopReason;
  }

  usage(): ChatUsage | null {
    return this.counted === null ? null : convertAnthropicUsage(this.counted);
  }

  takeKnown(text: string, from: number, to: number): boolean {
    const known = this.template.recognise(text, from, to);
    if (known === null) return false;
    this.opening.push(createGoingOn(unescapeText(known.text), `${deltaHead}${text.slice(from, to)}\n\n`));
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
        this.opening.hold(createGoingOn("", ping));
        break;
      case "message_start":
        this.begin(asRecord(event.message) ?? {});
        break;
      case "message_delta":
        this.takeDelta(asRecord(event.delta) ?? {}, event);
        break;
      case "message_stop":
        // Without a reason for its end it is no end.
        if (this.hasStopReason) outlet.end(this.usage());
        break;
      case "error":
        outlet.fail(errors.readError(event));
        break;
      default:
        if (isEventType(event.type) && !names.areIn(data)) {
          this.opening.hold(createGoingOn("", formatEvent(event.type, data)));
        }
    }
  }

  /** Answers whether it went through as it came. */
  private takeBlock(event: JsonRecord, data: string, text: string): boolean {
    const kept = keepKnownFields(event, blockFields, data);
    this.opening.push(createGoingOn(text, formatEvent(String(event.type), kept)));
    return kept === data;
  }

  private startBlock(block: JsonRecord | null, event: JsonRecord, data: string): void {
    const create = isBlockContent(block) ? createContent : createGoingOn;
    const kept = keepKnownFields(event, blockFields, data);
    this.opening.push(create(readWritten(block), formatEvent("content_block_start", kept)));
  }

  private begin(message: JsonRecord): void {
    const { envelope, names } = this.options;
    names.add(message.id);
    names.add(message.model);
    this.note(asRecord(message.usage));
    const begun = { ...cleanMessage(message, envelope), usage: cleanMessageUsage(this.counted ?? {}) };
    const piece = createGoingOn("", writeEvent({ type: "message_start", message: begun }));
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
    const piece = isEnd ? createEnding(readFinishReason(delta.stop_reason), told) : createGoingOn("", told);
    if (isEnd) this.hasStopReason = true;
    const usage = this.usage();
    this.opening.push(usage === null ? piece : { ...piece, usage });
  }

  /** What is `null` was counted before, or not at all. */
  private note(usage: JsonRecord | null): void {
    if (usage === null) return;
    const told = Object.entries(usage).filter(([, count]) => count !== null && count !== undefined);
    this.counted = { ...this.counted, ...Object.fromEntries(told) };
  }
}

function writeEvent(event: { type: string } & Record<string, unknown>): string {
  return formatEvent(event.type, JSON.stringify(event));
}
