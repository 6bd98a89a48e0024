import type { ChatAnswer, ChatUsage, ProviderError } from "../contract.ts";
import { createByteCollector } from "../openai-compatible/collect-bytes.ts";
import { asRecord, type JsonRecord, listStructureMax, parseJson } from "../openai-compatible/json-value.ts";
import { type AnswerReader, createBadAnswer, type ErrorReader, type Outlet } from "../openai-compatible/outlet.ts";
import { createEventReader, type EventListener, type EventReader } from "../openai-compatible/read-events.ts";

/** Converts the events of one answer to pieces, in order. */
export type EventConverter = {
  /** Takes the event at this place in `text` if it needs no parsing; `false` otherwise. */
  convertKnown(text: string, from: number, to: number): boolean;
  /** `data` is the text of the event. */
  take(event: JsonRecord, data: string): void;
  /** Whether the finish reason has arrived; only usage can be missing then. */
  hasFinished(): boolean;
  usage(): ChatUsage | null;
};

const answerBytesMax = 32 * 1024 * 1024;
const done = "[DONE]";

/** Reads the events of a native answer. */
export function createNativeStreamReader(outlet: Outlet, converter: EventConverter): AnswerReader {
  return new NativeStreamReader(outlet, converter);
}

/** A class, to save memory: there is one per stream, which may be idle for long. */
class NativeStreamReader implements AnswerReader, EventListener {
  private readonly outlet: Outlet;
  private readonly converter: EventConverter;
  private readonly events: EventReader;
  private isAtEnd = false;

  constructor(outlet: Outlet, converter: EventConverter) {
    this.outlet = outlet;
    this.converter = converter;
    this.events = createEventReader(this);
  }

  add(chunk: Buffer): void {
    if (!this.events.add(chunk)) this.outlet.fail(createBadAnswer("An event is too large."));
  }

  end(): void {
    this.isAtEnd = true;
    this.events.end();
    if (!this.outlet.isOpen()) return;
    this.fail(createBadAnswer("The upstream's stream ended without a finish reason."));
  }

  fail(error: ProviderError): void {
    const { outlet, converter } = this;
    if (converter.hasFinished()) outlet.end(converter.usage());
    else outlet.fail(error);
  }

  onEvent(text: string, from: number, to: number): void {
    // An event without data is a keep-alive.
    if (from === to || !this.outlet.isOpen() || this.converter.convertKnown(text, from, to)) return;
    const data = text.slice(from, to);
    const event = asRecord(parseJson(data));
    if (event !== null) this.converter.take(event, data);
    // Ignore the rest of an event that was cut off at the end: missing parts are detected anyway.
    else if (!this.isAtEnd && data !== done) this.outlet.fail(createBadAnswer("An event has an unexpected format."));
  }
}

type WholeOptions = {
  outlet: Outlet;
  errors: ErrorReader;
  hasLogprobs?: boolean;
  /** `null` if it is not an answer. */
  convert(answer: JsonRecord): ChatAnswer | null;
};

/** Reads a native answer that arrives as one JSON text. */
export function createNativeWholeReader({ outlet, errors, hasLogprobs = false, convert }: WholeOptions): AnswerReader {
  const body = createByteCollector(answerBytesMax);
  return {
    add(chunk) {
      if (!body.add(chunk)) outlet.fail(createBadAnswer("The response is too large."));
    },
    end() {
      const structureMax = hasLogprobs ? listStructureMax : undefined;
      const answer = asRecord(parseJson(body.take().toString("utf8"), structureMax));
      if (answer === null) return outlet.fail(createBadAnswer("The response is not a JSON object."));
      if (answer.error !== undefined && answer.error !== null) return outlet.fail(errors.readError(answer));
      const converted = convert(answer);
      if (converted === null) outlet.fail(createBadAnswer("The response has an unexpected format."));
      else outlet.answer(converted);
    },
    fail: (error) => outlet.fail(error),
  };
}
