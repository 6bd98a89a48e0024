import { isObject, type JsonObject } from "./response-request.ts";

/** What of a response is this gateway's to say, whoever wrote the rest of it. */
export type OwnFields = Readonly<Record<string, unknown>>;

/** Events that tell of the response as a whole, or of the begin and end of an item. All others are passed on unread. */
const readTypes: ReadonlySet<string> = new Set(
  ["created", "queued", "in_progress", "completed", "incomplete", "output_item.added", "output_item.done"].map(
    (name) => `response.${name}`,
  ),
);
const lastPattern = /^response\.(?:completed|incomplete)$/;
const typeAt = "event: ".length;

/** The events of an upstream that speaks this wire itself, on their way to the caller. */
export class NativeRelay {
  /** The last event, which waits until it is known what the response cost. */
  last: { type: string; sequence: number; response: JsonObject } | null = null;
  /** The number of the next event. */
  sequence = 0;
  private readonly items: JsonObject[] = [];
  /** The item that has begun and not ended, and what was written of it. */
  private open: { item: JsonObject; index: number; written: string[] } | null = null;
  private readonly own: OwnFields;

  constructor(own: OwnFields) {
    this.own = own;
  }

  /** Answers what of an event can be sent at once; `text` is what the model wrote in it. Events are numbered without a gap. */
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

  /** All items so far, the last as far as it was written. */
  listItems(): JsonObject[] {
    return this.open === null ? this.items : [...this.items, presentPart(this.open.item, this.open.written.join(""))];
  }

  /** Ends the item that grows. */
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

/** An item that broke off. */
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
