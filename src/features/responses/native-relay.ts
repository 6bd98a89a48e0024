import { isObject, type JsonObject } from "./response-request.ts";

/** What of a response is this gateway's to say, whoever wrote the rest of it. */
export type OwnFields = Readonly<Record<string, unknown>>;

/** Events that tell of the response as a whole, or of an item that is complete. All others are passed on unread. */
const readPattern = /"type":\s*"response\.(?:created|queued|in_progress|completed|incomplete|output_item\.done)"/;
const lastPattern = /^response\.(?:completed|incomplete)$/;
const numberPattern = /"sequence_number":\s*(\d+)/g;

/** The events of an upstream that speaks this wire itself, on their way to the caller. */
export class NativeRelay {
  /** The last event, which waits until it is known what the response cost. */
  last: { type: string; sequence: number; response: JsonObject } | null = null;
  /** The number of the next event. */
  sequence = 0;
  readonly items: JsonObject[] = [];
  private readonly own: OwnFields;

  constructor(own: OwnFields) {
    this.own = own;
  }

  /** Answers what of the events can be sent at once. */
  pass(events: string): string {
    this.noteSequence(events);
    if (!readPattern.test(events)) return events;
    return events
      .split("\n\n")
      .filter((event) => event !== "")
      .map((event) => this.passEvent(event))
      .join("");
  }

  private passEvent(event: string): string {
    if (!readPattern.test(event)) return `${event}\n\n`;
    const data = event.slice(event.indexOf("data:") + "data:".length);
    const body = JSON.parse(data) as JsonObject;
    const type = String(body.type);
    if (type === "response.output_item.done") {
      if (isObject(body.item)) this.items.push(body.item);
      return `${event}\n\n`;
    }
    const response = isObject(body.response) ? body.response : {};
    if (lastPattern.test(type)) {
      this.last = { type, sequence: Number(body.sequence_number), response };
      return "";
    }
    return `event: ${type}\ndata: ${JSON.stringify({ ...body, response: { ...response, ...this.own } })}\n\n`;
  }

  private noteSequence(events: string): void {
    for (const [, number] of events.matchAll(numberPattern)) this.sequence = Number(number) + 1;
  }
}
