import type { ChatAnswer, ChatUsage, ProviderError } from "../contract.ts";
import { createByteCollector } from "../openai-compatible/collect-bytes.ts";
import { asRecord, type JsonRecord, listStructureMax, parseJson } from "../openai-compatible/json-value.ts";
import { type AnswerReader, createBadAnswer, type ErrorReader, type Outlet } from "../openai-compatible/outlet.ts";
import { createEventReader, type EventListener, type EventReader } from "../openai-compatible/read-events.ts";

/** Turns the events of one answer into pieces, in the order in which they came. */
export type EventTaker = {
  /** Takes an event that need not be parsed, given where in a text it stands; `false` for any other. */
  takeKnown(text: string, from: number, to: number): boolean;
  /** `data` is the text of the event. */
  take(event: JsonRecord, data: string): void;
  /** Whether the reason for its end has come; nothing but the usage can be missing then. */
  hasFinished(): boolean;
  usage(): ChatUsage | null;
};

const answerBytesMax = 32 * 1024 * 1024;
const done = "[DONE]";

/** Reads the events of a native answer. */
export function createNativeStreamReader(outlet: Outlet, taker: EventTaker): AnswerReader {
  return new NativeStreamReader(outlet, taker);
}

/** A class, because there is one for each stream, which may be open and silent for long. */
class NativeStreamReader implements AnswerReader, EventListener {
  private readonly outlet: Outlet;
  private readonly taker: EventTaker;
  private readonly events: EventReader;
  private isAtEnd = false;

  constructor(outlet: Outlet, taker: EventTaker) {
    this.outlet = outlet;
    this.taker = taker;
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
    const { outlet, taker } = this;
    if (taker.hasFinished()) outlet.end(taker.usage());
    else outlet.fail(error);
  }

  onEvent(text: string, from: number, to: number): void {
    // An event without data is a sign of life.
    if (from === to || !this.outlet.isOpen() || this.taker.takeKnown(text, from, to)) return;
    const data = text.slice(from, to);
    const event = asRecord(parseJson(data));
    if (event !== null) this.taker.take(event, data);
    // The rest of an event that the end of the connection cut off says nothing; what was missing is found out anyway.
    else if (!this.isAtEnd && data !== done) this.outlet.fail(createBadAnswer("An event is not what was promised."));
  }
}

type WholeOptions = {
  outlet: Outlet;
  errors: ErrorReader;
  hasLogprobs?: boolean;
  /** `null` for what is no answer. */
  convert(answer: JsonRecord): ChatAnswer | null;
};

/** Reads a native answer that comes as one JSON text. */
export function createNativeWholeReader({ outlet, errors, hasLogprobs = false, convert }: WholeOptions): AnswerReader {
  const body = createByteCollector(answerBytesMax);
  return {
    add(chunk) {
      if (!body.add(chunk)) outlet.fail(createBadAnswer("The answer is too large."));
    },
    end() {
      const structureMax = hasLogprobs ? listStructureMax : undefined;
      const answer = asRecord(parseJson(body.take().toString("utf8"), structureMax));
      if (answer === null) return outlet.fail(createBadAnswer("The answer is no JSON object."));
      if (answer.error !== undefined && answer.error !== null) return outlet.fail(errors.readError(answer));
      const converted = convert(answer);
      if (converted === null) outlet.fail(createBadAnswer("The answer is not what was promised."));
      else outlet.answer(converted);
    },
    fail: (error) => outlet.fail(error),
  };
}
