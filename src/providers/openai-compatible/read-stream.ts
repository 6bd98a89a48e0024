import { type ChatPiece, type ChatUsage, ProviderError } from "../contract.ts";
import { type ChoicesForm, hasText, type KnownForms, learnForm } from "./choices-form.ts";
import { type ChunkEnvelope, cutChoices, learnEnvelope } from "./chunk-envelope.ts";
import { createTemplate, EventTemplate, fillTemplate } from "./chunk-template.ts";
import { parseJson } from "./json-value.ts";
import { type AnswerReader, createBadAnswer, type ErrorReader, type Outlet } from "./outlet.ts";
import { type CleanChoices, readChoices, readChunk } from "./read-chunk.ts";
import { createEventReader, type EventListener, type EventReader } from "./read-events.ts";

type StreamReaderOptions = {
  outlet: Outlet;
  /** How many choices the caller requested. */
  choicesAsked: number;
  /** Learned from earlier answers of this upstream. */
  forms: KnownForms;
  errors: ErrorReader;
};

const done = "[DONE]";
/** Learning costs about as much as parsing this many chunks, so it must pay off with as many hits. */
const lessonCost = 2;
const creditMax = 8 * lessonCost;

/** `calling`: tool calls without a finish reason yet. */
type ChoiceState = "open" | "calling" | "finished";

/** Reads a streamed answer: bytes to events, events to pieces. */
export function createStreamReader(options: StreamReaderOptions): AnswerReader {
  return new StreamReader(options);
}

/** A class, to save memory: there is one per stream, which may be idle for long. */
class StreamReader implements AnswerReader, EventListener {
  private readonly options: StreamReaderOptions;
  private readonly events: EventReader;
  /** The choices seen so far. */
  private readonly choices = new Map<number, ChoiceState>();
  private usage: ChatUsage | null = null;
  private envelope: ChunkEnvelope | null = null;
  private template: EventTemplate | null = null;
  private credit = creditMax;
  private isAtEnd = false;

  constructor(options: StreamReaderOptions) {
    this.options = options;
    this.events = createEventReader(this);
  }

  add(chunk: Buffer): void {
    if (!this.events.add(chunk)) this.options.outlet.fail(createBadAnswer("An event is too large."));
  }

  end(): void {
    const { outlet } = this.options;
    this.isAtEnd = true;
    this.events.end();
    if (!outlet.isOpen()) return;
    if (this.choices.size === 0) outlet.fail(createBadAnswer("The stream has no choices."));
    else if (this.listUnfinished().length === 0) outlet.end(this.usage);
    else outlet.fail(new ProviderError("unreachable", "The stream ended in the middle of an answer."));
  }

  fail(error: ProviderError): void {
    const { outlet, choicesAsked } = this.options;
    // An answer with all its finish reasons can only lack usage.
    if (this.choices.size >= choicesAsked && this.listUnfinished().length === 0) outlet.end(this.usage);
    else outlet.fail(error);
  }

  takeRun(text: string, from: number): number {
    const { outlet } = this.options;
    let at = from;
    while (this.template !== null && outlet.isOpen()) {
      const piece = this.template.fill(text, at);
      if (piece === null) break;
      at = this.template.end;
      this.takePiece(piece);
    }
    return at;
  }

  private takePiece(piece: ChatPiece): void {
    if (this.credit < creditMax) this.credit += 1;
    this.options.outlet.push(piece);
  }

  onEvent(text: string, from: number, to: number): void {
    const { outlet } = this.options;
    // An event without data is a keep-alive.
    if (from === to || !outlet.isOpen()) return;
    const piece = this.template?.fillData(text, from, to) ?? null;
    if (piece === null) this.takeData(text.slice(from, to));
    else this.takePiece(piece);
  }

  private takeData(data: string): void {
    const { outlet } = this.options;
    if (data === done) {
      this.finish();
    } else if (!this.takeKnown(data)) {
      const chunk = readChunk(data);
      if (chunk.kind === "error") outlet.fail(this.options.errors.readError(chunk.body));
      else if (chunk.kind === "chunk") this.takeChoices(chunk, chunk.usage);
      // Ignore the rest of an event that was cut off at the end: missing parts are detected anyway.
      else if (!this.isAtEnd) outlet.fail(createBadAnswer("A chunk has an unexpected format."));
    }
  }

  /** Takes a chunk with a known or learnable envelope: only its choices are parsed. */
  private takeKnown(data: string): boolean {
    let choices = this.envelope === null ? null : cutChoices(this.envelope, data);
    if (choices === null && hasText(data)) {
      this.envelope = this.learn(learnEnvelope, data) ?? this.envelope;
      choices = this.envelope === null ? null : cutChoices(this.envelope, data);
    }
    if (this.envelope === null || choices === null) return false;
    const form = this.options.forms.find(choices) ?? this.learnNewForm(choices);
    if (form === null) {
      const value = parseJson(choices);
      if (value !== undefined) this.takeChoices(readChoices(value), null);
      return value !== undefined;
    }
    const template = createTemplate(this.envelope, form);
    this.template = new EventTemplate(template);
    const piece = fillTemplate(template, data, 0, data.length);
    if (piece === null) return false;
    for (const index of form.indexes) this.note(index, "open");
    this.options.outlet.push(piece);
    return true;
  }

  private learnNewForm(choices: string): ChoicesForm | null {
    const form = this.learn(learnForm, choices);
    if (form !== null) this.options.forms.add(form);
    return form;
  }

  private learn<T>(lesson: (text: string) => T | null, text: string): T | null {
    if (this.credit < lessonCost || !hasText(text)) return null;
    this.credit -= lessonCost;
    return lesson(text);
  }

  private takeChoices({ choices, text, isContent }: CleanChoices, reported: ChatUsage | null): void {
    this.usage = reported ?? this.usage;
    if (choices.length === 0) return;
    for (const { index, delta, finish_reason: reason } of choices) {
      this.note(index, reason !== null ? "finished" : delta.tool_calls === undefined ? "open" : "calling");
    }
    const piece: ChatPiece = { choices: JSON.stringify(choices), text };
    if (isContent === true) piece.isContent = true;
    if (reported !== null) piece.usage = reported;
    this.options.outlet.push(piece);
  }

  private note(index: number, state: ChoiceState): void {
    const known = this.choices.get(index);
    if (known === undefined || (state !== "open" && known !== "finished")) this.choices.set(index, state);
  }

  private listUnfinished(): number[] {
    const unfinished: number[] = [];
    for (const [index, state] of this.choices) if (state !== "finished") unfinished.push(index);
    return unfinished;
  }

  /** The upstream sent `[DONE]`; some do so without finishing each choice. */
  private finish(): void {
    const { outlet } = this.options;
    if (this.choices.size === 0) outlet.fail(createBadAnswer("The stream has no choices."));
    for (const index of this.listUnfinished()) {
      const reason = this.choices.get(index) === "calling" ? "tool_calls" : "stop";
      outlet.push({ choices: JSON.stringify([{ index, delta: {}, finish_reason: reason }]), text: "" });
    }
    outlet.end(this.usage);
  }
}
