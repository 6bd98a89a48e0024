import { isObject, type JsonObject } from "./response-request.ts";

/** The fields of a response that this gateway sets, even if an upstream wrote the rest. */
export type OwnFields = Readonly<Record<string, unknown>>;

/** Events about the whole response or the start and end of an item. All others are forwarded unread. */
const readTypes: ReadonlySet<string> = new Set(
  ["created", "queued", "in_progress", "completed", "incomplete", "output_item.added", "output_item.done"].map(
    (name) => `response.${name}`,
  ),
);
const lastPattern = /^response\.(?:completed|incomplete)$/;
const typeAt = "event: ".length;

/** Forwards the events of an upstream with the Responses API. */
export class NativeRelay {
  /** The last event, which waits for the charge. */
  last: { type: string; sequence: number; response: JsonObject } | null = null;
  /** The sequence number of the next event. */
  sequence = 0;
  private readonly items: JsonObject[] = [];
  /** The item that has started and not ended, and its text so far. */
  private open: { item: JsonObject; index: number; written: string[] } | null = null;
  private readonly own: OwnFields;

  constructor(own: OwnFields) {
    this.own = own;
  }

  /** Returns the part of an event to send now; `text` is the model's text in it. Renumbers events without gaps. */
  pass(event: string, text: string): string {
    this.sequence += 1;
    if (text !== "") this.open?.written.push(text);
    const type = event.slice(typeAt, event.indexOf("\n"));
    if (!readTypes.has(type)) return event;
    const body = JSON.parse(event.slice(event.indexOf("data:") + "data:".length)) as JsonObject;
    if (isObject(body.item)) {
      const isDone = type === "response.output_item.done";
      if (isDone) this.items.push(body.item);
      this.open = isDone ? null : { item: body.item, index: Number(body.output_index ?? 0), written: [] };
      return event;
    }
    const response = isObject(body.response) ? body.response : {};
    if (lastPattern.test(type)) {
      this.last = { type, sequence: Number(body.sequence_number), response };
      return "";
    }
    return `event: ${type}\ndata: ${JSON.stringify({ ...body, response: { ...response, ...this.own } })}\n\n`;
  }

  /** All items so far, including the current one. */
  listItems(): JsonObject[] {
    return this.open === null ? this.items : [...this.items, presentPart(this.open.item, this.open.written.join(""))];
  }

  /** Ends the current item. */
  close(): string {
    if (this.open === null) return "";
    const item = presentPart(this.open.item, this.open.written.join(""));
    const event = { output_index: this.open.index, item, sequence_number: this.sequence };
    this.items.push(item);
    this.open = null;
    this.sequence += 1;
    const type = "response.output_item.done";
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`;
  }
}

/** An interrupted item. */
function presentPart(item: JsonObject, text: string): JsonObject {
  switch (item.type) {
    case "message": {
      const content = text === "" ? [] : [{ type: "output_text", text, annotations: [], logprobs: [] }];
      return { ...item, content, status: "incomplete" };
    }
    case "function_call":
      return { ...item, arguments: text, status: "incomplete" };
    case "custom_tool_call":
      return { ...item, input: text };
    default:
      return item;
  }
}
