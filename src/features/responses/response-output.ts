import { writeReasoningMark } from "./reasoning-mark.ts";
import { isObject, type JsonObject } from "./response-request.ts";
import type { NamespacedName } from "./tool-namespaces.ts";
import { searchFunction } from "./tool-search.ts";

/** A chat delta, or a complete chat message. */
export type ChatDelta = {
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning_details?: JsonObject[];
  tool_calls?: ToolCallDelta[];
  annotations?: JsonObject[];
  images?: { image_url?: { url?: string } }[];
};

type ToolCallDelta = {
  index?: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string };
  custom?: { name?: string; input?: string };
};

export type ChatLogprobs = { content?: JsonObject[] | null } | null;

/** All texts are JSON-escaped, because they are written several times and never read. */
type Part = { type: "output_text" | "refusal"; raw: string; logprobs: JsonObject[]; annotations: JsonObject[] };
type Place = { id: string; index: number; status: ItemStatus | null };
type MessageItem = Place & { type: "message"; parts: Part[] };
type ReasoningItem = Place & { type: "reasoning"; raw: string; hasText: boolean; details: JsonObject[] | null };
type CallItem = Place & { type: CallType; callId: string; name: string; raw: string };
type CallType = "function_call" | "custom_tool_call" | "tool_search_call";
type ImageItem = Place & { type: "image_generation_call"; raw: string };
type OutputItem = MessageItem | ReasoningItem | CallItem | ImageItem;

export type ItemStatus = "completed" | "incomplete";

const idPrefixes = {
  ...{ message: "msg", reasoning: "rs", function_call: "fc", custom_tool_call: "ctc", image_generation_call: "ig" },
  tool_search_call: "tsc",
} as const;

export type OutputOptions = {
  /** The end of all item ids, before their number. */
  suffix: string;
  /** The caller asked for a reasoning summary, so reasoning is sent as one. */
  summarizes: boolean;
  /** Reasoning items get an `encrypted_content`, so that they can be sent back. */
  marksReasoning: boolean;
  /** The tools of namespaces, by their chat names. */
  namespacedTools: ReadonlyMap<string, NamespacedName>;
  /** The caller searches its own tools: a call of the search is an item of its own type. */
  searchesTools: boolean;
};

function toRaw(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Builds the items of one response from the pieces of a chat answer, and the events for them. An item starts when the
 * model turns to something else, and ends the one before.
 */
export class ResponseOutput {
  /** The sequence number of the next event. */
  sequence = 0;
  private readonly options: OutputOptions;
  private readonly items: OutputItem[] = [];
  private readonly calls = new Map<number, CallItem>();
  private current: OutputItem | null = null;
  /** The start and end of a delta event of the current part. */
  private growth: { start: string; end: string } = { start: "", end: "" };

  constructor(options: OutputOptions) {
    this.options = options;
  }

  event(type: string, fields: string): string {
    const number = this.sequence;
    this.sequence += 1;
    return writeEvent(type, number, fields);
  }

  add(delta: ChatDelta, logprobs: ChatLogprobs = null): string {
    let events = "";
    if (delta.reasoning_details !== undefined) events += this.addThoughtDetails(delta.reasoning_details);
    if (delta.reasoning_content) events += this.addThought(toRaw(delta.reasoning_content));
    if (delta.content) events += this.addText(toRaw(delta.content), logprobs?.content ?? []);
    if (delta.refusal) events += this.addRefusal(toRaw(delta.refusal));
    for (const annotation of delta.annotations ?? []) events += this.addAnnotation(annotation);
    for (const [position, call] of (delta.tool_calls ?? []).entries()) {
      events += this.addCall(call, call.index ?? position);
    }
    for (const image of delta.images ?? []) events += this.addImage(image.image_url?.url ?? "");
    return events;
  }

  /** `raw` is JSON-escaped text. */
  addText(raw: string, logprobs: readonly JsonObject[] = []): string {
    const { events, part } = this.turnToPart("output_text");
    part.raw += raw;
    if (logprobs.length === 0) return events + this.grow("response.output_text.delta", raw);
    part.logprobs.push(...logprobs);
    const end = `","logprobs":${JSON.stringify(logprobs.map(shortenLogprob))}`;
    return events + this.event("response.output_text.delta", this.growth.start + raw + end);
  }

  addThought(raw: string): string {
    const { item, events } = this.turnToReasoning();
    let opening = "";
    if (!item.hasText) {
      item.hasText = true;
      opening = this.options.summarizes
        ? this.event(
            "response.reasoning_summary_part.added",
            `${placeOf(item)},"summary_index":0,"part":{"type":"summary_text","text":""}`,
          )
        : this.event(
            "response.content_part.added",
            `${placeOf(item)},"content_index":0,"part":{"type":"reasoning_text","text":""}`,
          );
      const index = this.options.summarizes ? "summary_index" : "content_index";
      this.growth = { start: `${placeOf(item)},"${index}":0,"delta":"`, end: '"' };
    }
    item.raw += raw;
    const type = this.options.summarizes ? "response.reasoning_summary_text.delta" : "response.reasoning_text.delta";
    return events + opening + this.grow(type, raw);
  }

  /** Ends the open item. */
  close(status: ItemStatus): string {
    const { current } = this;
    this.current = null;
    if (current === null) return "";
    current.status = status;
    return (
      this.closeContent(current) +
      this.event("response.output_item.done", `"output_index":${current.index},"item":${this.presentItem(current)}`)
    );
  }

  /** All items, as JSON. */
  present(): string {
    return `[${this.items.map((item) => this.presentItem(item)).join(",")}]`;
  }

  private grow(type: string, raw: string): string {
    return this.event(type, this.growth.start + raw + this.growth.end);
  }

  private addRefusal(raw: string): string {
    const { events, part } = this.turnToPart("refusal");
    part.raw += raw;
    return events + this.grow("response.refusal.delta", raw);
  }

  private addAnnotation({ type, url_citation: citation }: JsonObject): string {
    if (type !== "url_citation" || !isObject(citation)) return "";
    const { events, item, part } = this.turnToPart("output_text");
    const annotation = { type: "url_citation", ...citation };
    const index = part.annotations.push(annotation) - 1;
    const place = `${placeOf(item)},"content_index":${item.parts.length - 1},"annotation_index":${index}`;
    return (
      events +
      this.event("response.output_text.annotation.added", `${place},"annotation":${JSON.stringify(annotation)}`)
    );
  }

  /** An image arrives complete, as a data URL. */
  private addImage(url: string): string {
    const item: ImageItem = { ...this.createPlace("image_generation_call"), type: "image_generation_call", raw: "" };
    const events = this.begin(item);
    item.raw = toRaw(url.slice(url.indexOf(",") + 1));
    return events + this.close("completed");
  }

  private addThoughtDetails(details: readonly JsonObject[]): string {
    const { item, events } = this.turnToReasoning();
    item.details = [...(item.details ?? []), ...details];
    return events;
  }

  private addCall(delta: ToolCallDelta, position: number): string {
    const isCustom = delta.type === "custom" || delta.custom !== undefined;
    let events = "";
    let call = this.calls.get(position);
    if (call === undefined) {
      const callId = delta.id ?? `call_${this.options.suffix}_${position}`;
      const name = (isCustom ? delta.custom?.name : delta.function?.name) ?? "";
      const type = isCustom ? "custom_tool_call" : this.decideCallType(name);
      call = { ...this.createPlace(type), type, callId, name, raw: "" };
      this.calls.set(position, call);
      events = this.begin(call);
      this.growth = { start: `${placeOf(call)},"delta":"`, end: '"' };
    }
    const text = (call.type === "custom_tool_call" ? delta.custom?.input : delta.function?.arguments) ?? "";
    if (text === "") return events;
    const raw = toRaw(text);
    call.raw += raw;
    // No vendor returns to an earlier call. If one did, its arguments are complete in the final response.
    if (call !== this.current || call.type === "tool_search_call") return events;
    return (
      events +
      this.grow(
        call.type === "custom_tool_call"
          ? "response.custom_tool_call_input.delta"
          : "response.function_call_arguments.delta",
        raw,
      )
    );
  }

  private decideCallType(name: string): CallType {
    return this.options.searchesTools && name === searchFunction ? "tool_search_call" : "function_call";
  }

  private turnToReasoning(): { item: ReasoningItem; events: string } {
    if (this.current?.type === "reasoning") return { item: this.current, events: "" };
    const place = this.createPlace("reasoning");
    const item: ReasoningItem = { ...place, type: "reasoning", raw: "", hasText: false, details: null };
    return { item, events: this.begin(item) };
  }

  private turnToPart(type: Part["type"]): { item: MessageItem; part: Part; events: string } {
    let events = "";
    let item = this.current;
    if (item?.type !== "message") {
      item = { ...this.createPlace("message"), type: "message", parts: [] };
      events = this.begin(item);
    }
    const last = item.parts.at(-1);
    if (last?.type === type) return { item, part: last, events };
    if (last !== undefined) events += this.closePart(item, last);
    const part: Part = { type, raw: "", logprobs: [], annotations: [] };
    const place = `${placeOf(item)},"content_index":${item.parts.length}`;
    item.parts.push(part);
    this.growth = { start: `${place},"delta":"`, end: type === "output_text" ? '","logprobs":[]' : '"' };
    events += this.event("response.content_part.added", `${place},"part":${presentPart(part)}`);
    return { item, part, events };
  }

  private createPlace(type: OutputItem["type"]): Place {
    const index = this.items.length;
    return { id: `${idPrefixes[type]}_${this.options.suffix}_${index}`, index, status: null };
  }

  private begin(item: OutputItem): string {
    const events = this.close("completed");
    this.items.push(item);
    this.current = item;
    const begun = this.presentItem(item);
    return events + this.event("response.output_item.added", `"output_index":${item.index},"item":${begun}`);
  }

  private closeContent(item: OutputItem): string {
    if (item.type === "message") {
      const part = item.parts.at(-1);
      return part === undefined ? "" : this.closePart(item, part);
    }
    if (item.type === "reasoning") return item.hasText ? this.closeReasoning(item) : "";
    if (item.type === "image_generation_call" || item.type === "tool_search_call") return "";
    return item.type === "function_call"
      ? this.event("response.function_call_arguments.done", `${placeOf(item)},"arguments":"${item.raw}"`)
      : this.event("response.custom_tool_call_input.done", `${placeOf(item)},"input":"${item.raw}"`);
  }

  private closePart(item: MessageItem, part: Part): string {
    const place = `${placeOf(item)},"content_index":${item.parts.indexOf(part)}`;
    const done =
      part.type === "refusal"
        ? this.event("response.refusal.done", `${place},"refusal":"${part.raw}"`)
        : this.event(
            "response.output_text.done",
            `${place},"text":"${part.raw}","logprobs":${JSON.stringify(part.logprobs.map(shortenLogprob))}`,
          );
    return done + this.event("response.content_part.done", `${place},"part":${presentPart(part)}`);
  }

  private closeReasoning(item: ReasoningItem): string {
    const { summarizes } = this.options;
    const place = `${placeOf(item)},"${summarizes ? "summary_index" : "content_index"}":0`;
    const [textDone, partDone] = summarizes
      ? ["response.reasoning_summary_text.done", "response.reasoning_summary_part.done"]
      : ["response.reasoning_text.done", "response.content_part.done"];
    return (
      this.event(textDone ?? "", `${place},"text":"${item.raw}"`) +
      this.event(partDone ?? "", `${place},"part":${presentThought(item.raw, summarizes)}`)
    );
  }

  private presentItem(item: OutputItem): string {
    const status = item.status ?? (item === this.current ? "in_progress" : "incomplete");
    const head = `{"id":"${item.id}","type":"${item.type}"`;
    if (item.type === "message") {
      return `${head},"status":"${status}","role":"assistant","content":[${item.parts.map(presentPart).join(",")}]}`;
    }
    if (item.type === "reasoning") return `${head},${this.presentReasoning(item)}}`;
    if (item.type === "image_generation_call") {
      return `${head},"status":"${status}","result":${item.raw === "" ? "null" : `"${item.raw}"`}}`;
    }
    if (item.type === "tool_search_call") {
      const call = `"call_id":${JSON.stringify(item.callId)},"execution":"client"`;
      return `${head},"status":"${status}",${call},"arguments":${presentArguments(item.raw)}}`;
    }
    const field = item.type === "function_call" ? "arguments" : "input";
    return `${head},"status":"${status}","call_id":${JSON.stringify(item.callId)},${this.presentName(item)},"${field}":"${item.raw}"}`;
  }

  private presentName({ name }: CallItem): string {
    const named = this.options.namespacedTools.get(name);
    if (named === undefined) return `"name":${JSON.stringify(name)}`;
    return `"namespace":${JSON.stringify(named.namespace)},"name":${JSON.stringify(named.name)}`;
  }

  private presentReasoning({ raw, hasText, details, status }: ReasoningItem): string {
    const { summarizes, marksReasoning } = this.options;
    const thought = hasText ? presentThought(raw, summarizes) : "";
    const texts = summarizes ? `"summary":[${thought}]` : `"summary":[],"content":[${thought}]`;
    if (!marksReasoning) return texts;
    // It contains all of the reasoning, so it is empty until the end.
    const mark =
      status === null ? '""' : `"${writeReasoningMark({ text: JSON.parse(`"${raw}"`) as string, details })}"`;
    return `${texts},"encrypted_content":${mark}`;
  }
}

export function writeEvent(type: string, sequence: number, fields: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${fields}}\n\n`;
}

function placeOf({ id, index }: OutputItem): string {
  return `"item_id":"${id}","output_index":${index}`;
}

function presentPart({ type, raw, logprobs, annotations }: Part): string {
  if (type === "refusal") return `{"type":"refusal","refusal":"${raw}"}`;
  return `{"type":"output_text","text":"${raw}","annotations":${JSON.stringify(annotations)},"logprobs":${JSON.stringify(logprobs)}}`;
}

/** As an object; until they are complete, and if they are not JSON, without content. */
function presentArguments(raw: string): string {
  const text = JSON.parse(`"${raw}"`) as string;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return "{}";
  }
}

function presentThought(raw: string, summarizes: boolean): string {
  return `{"type":"${summarizes ? "summary_text" : "reasoning_text"}","text":"${raw}"}`;
}

/** Events contain token logprobs without bytes. */
function shortenLogprob({ token, logprob, top_logprobs: top }: JsonObject): JsonObject {
  const alternatives = Array.isArray(top)
    ? top.map(({ token: text, logprob: p }) => ({ token: text, logprob: p }))
    : [];
  return { token, logprob, top_logprobs: alternatives };
}
