import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import type { ChatAnswer, ChatUsage, NativeRequest } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import { createBadAnswer, type ErrorReader, type Outlet } from "../openai-compatible/outlet.ts";
import { readUpstreamError } from "../openai-compatible/read-upstream-error.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import {
  cleanResponse,
  cleanResponseUsage,
  isItemContent,
  readItemText,
  readResponseFinish,
  readResponseUsage,
} from "./clean-response.ts";
import { DeltaTemplate, type HoleKey, unescapeText } from "./delta-template.ts";
import {
  createContentPiece,
  createFinalPiece,
  createUnfinishedPiece,
  formatEvent,
  isEventType,
  keepKnownFields,
  presentMeteredChoice,
} from "./native-events.ts";
import { Opening } from "./opening.ts";
import { createNativeStreamReader, createNativeWholeReader, type EventConverter } from "./read-native-answer.ts";
import { createVendorNames, type VendorNames } from "./vendor-names.ts";

type ResponseConverterOptions = { outlet: Outlet; errors: ErrorReader; native: NativeRequest; names: VendorNames };

/** Fields of events about an item or a part of one. */
const itemFields: ReadonlySet<string> = new Set([
  ..."annotation annotation_index arguments code content_index delta input item item_id logprobs name".split(" "),
  ..."obfuscation output_index part partial_image_b64 partial_image_index refusal sequence_number".split(" "),
  ..."summary_index text type".split(" "),
]);
const knownTypePattern =
  /^response\.(?:output_item|content_part|output_text|refusal|function_call_arguments|custom_tool_call_input|reasoning_text|reasoning_summary_(?:part|text)|reasoning_summary|code_interpreter_call(?:_code)?|file_search_call|web_search_call|image_generation_call|mcp_(?:call(?:_arguments)?|list_tools)|audio(?:\.transcript)?)\.[a-z_.]+$/;

const soundType = "response.audio.delta";
const deltaKeys: readonly HoleKey[] = [
  ['"delta":"', "text"],
  ['"sequence_number":', "number"],
  ['"obfuscation":"', "noise"],
];

/** Reads responses of OpenAI's Responses API for a caller of the same API. */
export function createResponsesForm({ clock, host }: { clock: Clock; host: string }): AnswerForm {
  return {
    createReader({ call, outlet, errors }) {
      const { native, request } = call;
      invariant(native !== undefined, "only native requests get native answers");
      if (request.stream !== true) {
        const hasLogprobs = request.logprobs === true;
        const convert = (answer: JsonRecord): ChatAnswer | null => convertResponse(answer, native);
        return createNativeWholeReader({ outlet, errors, hasLogprobs, convert });
      }
      const names = createVendorNames(call, host);
      return createNativeStreamReader(outlet, new ResponseConverter({ outlet, errors, native, names }));
    },

    readError: (refusal) => readUpstreamError({ ...refusal, clock }),
  };
}

function convertResponse(answer: JsonRecord, native: NativeRequest): ChatAnswer | null {
  const finishReason = readResponseFinish(answer);
  if (finishReason === null || !Array.isArray(answer.output)) return null;
  return {
    choices: presentMeteredChoice(finishReason),
    text: answer.output.map(readItemText).join(""),
    ...(answer.output.some(isItemContent) ? { isContent: true } : {}),
    usage: readResponseUsage(answer.usage),
    nativeBody: cleanResponse(answer, native),
  };
}

/**
 * Converts the events of a response. Item events are forwarded as received, numbered without gaps; the response itself
 * is rewritten. A class, to save memory: there is one per stream.
 */
class ResponseConverter implements EventConverter {
  private readonly options: ResponseConverterOptions;
  private readonly opening: Opening;
  private readonly template = new DeltaTemplate();
  private deltaHead = "";
  private nextNumber = 0;
  private reported: ChatUsage | null = null;
  /** Where the text of the current item is. */
  private written: "in-item" | "in-deltas" = "in-item";

  constructor(options: ResponseConverterOptions) {
    this.options = options;
    this.opening = new Opening(options.outlet);
  }

  /** The last event is complete and ends the answer at once. */
  hasFinished(): boolean {
    return false;
  }

  usage(): ChatUsage | null {
    return this.reported;
  }

  convertKnown(text: string, from: number, to: number): boolean {
    const known = this.template.recognise(text, from, to);
    if (known === null || known.number !== this.nextNumber) return false;
    this.nextNumber += 1;
    this.written = "in-deltas";
    this.opening.push(createUnfinishedPiece(unescapeText(known.text), `${this.deltaHead}${text.slice(from, to)}\n\n`));
    return true;
  }

  take(event: JsonRecord, data: string): void {
    const { outlet, errors, names } = this.options;
    const { type } = event;
    if (!isEventType(type)) return;
    switch (type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        names.add(asRecord(event.response)?.id);
        this.opening.hold(createUnfinishedPiece("", this.presentResponse(type, event)));
        break;
      case "response.completed":
      case "response.incomplete":
        this.finish(type, event);
        break;
      case "response.failed":
        outlet.fail(errors.readError({ error: asRecord(event.response)?.error ?? {} }));
        break;
      case "error":
        outlet.fail(errors.readError({ error: asRecord(event.error) ?? event }));
        break;
      default:
        if (knownTypePattern.test(type)) this.takeKnownItem(type, event, data);
        else if (!names.areIn(data)) this.takeItem(type, event, data);
    }
  }

  private takeKnownItem(type: string, event: JsonRecord, data: string): void {
    const kept = keepKnownFields(event, itemFields, data);
    this.takeItem(type, event, kept);
    if (typeof event.delta !== "string" || type === soundType || kept !== data) return;
    this.template.learn(data, deltaKeys);
    this.deltaHead = `event: ${type}\ndata: `;
  }

  private takeItem(type: string, event: JsonRecord, data: string): void {
    const isDelta = typeof event.delta === "string" && type !== soundType;
    const told = formatEvent(type, this.number(event, data));
    if (isDelta) {
      this.written = "in-deltas";
      this.opening.push(createUnfinishedPiece(String(event.delta), told));
      return;
    }
    const { item } = event;
    const create = isItemContent(item) ? createContentPiece : createUnfinishedPiece;
    this.opening.push(create(this.readItem(type, item), told));
  }

  /** If an item had no deltas, its text is in the finished item. */
  private readItem(type: string, item: unknown): string {
    if (type === "response.output_item.added") {
      const name = asRecord(item)?.name;
      this.written = "in-item";
      return typeof name === "string" ? name : "";
    }
    return type === "response.output_item.done" && isItemContent(item) && this.written === "in-item"
      ? readItemText({ ...asRecord(item), name: undefined })
      : "";
  }

  private finish(type: string, event: JsonRecord): void {
    const { outlet } = this.options;
    const response = asRecord(event.response) ?? {};
    const finishReason = readResponseFinish(response);
    if (finishReason === null) {
      outlet.fail(createBadAnswer("The response ended without a status."));
      return;
    }
    this.reported = readResponseUsage(response.usage);
    this.opening.push(createFinalPiece(finishReason, this.presentResponse(type, event)));
    outlet.end(this.reported);
  }

  private presentResponse(type: string, event: JsonRecord): string {
    const response = asRecord(event.response) ?? {};
    const clean = { ...cleanResponse(response, this.options.native), usage: cleanResponseUsage(response.usage) };
    return formatEvent(type, this.number({}, JSON.stringify({ type, response: clean })));
  }

  /** The event with the next sequence number; unchanged if it has it already. */
  private number(event: JsonRecord, data: string): string {
    const number = this.nextNumber;
    this.nextNumber += 1;
    if (event.sequence_number === number) return data;
    const said = `"sequence_number":${number}`;
    if (typeof event.sequence_number !== "number") return `${data.slice(0, data.lastIndexOf("}"))},${said}}`;
    return JSON.stringify({ ...JSON.parse(data), sequence_number: number });
  }
}
