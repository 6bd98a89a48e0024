import { type ChatUsage, ProviderError } from "../contract.ts";
import { type ChunkTemplate, fillTemplate, findText, learnTemplate } from "./chunk-template.ts";
import { type AnswerReader, createBadAnswer, type Outlet } from "./outlet.ts";
import { type CleanChunk, readChunk } from "./read-chunk.ts";
import { createEventReader } from "./read-events.ts";

type StreamParts = {
  outlet: Outlet;
  /** How many choices the caller asked for. */
  choicesAsked: number;
  readError(body: unknown): ProviderError;
};

const done = "[DONE]";
/** Learning costs about as much as this many chunks that are read the slow way, so it has to be earned by as many hits. */
const lessonCost = 4;
const creditMax = 4 * lessonCost;

/** Reads a streamed answer: bytes become events, and events pieces. */
export function createStreamReader({ outlet, choicesAsked, readError }: StreamParts): AnswerReader {
  const events = createEventReader(onEvent);
  const seen = new Set<number>();
  const unfinished = new Set<number>();
  let usage: ChatUsage | null = null;
  let template: ChunkTemplate | null = null;
  let credit = creditMax;
  let isAtEnd = false;

  function onEvent(text: string, from: number, to: number): void {
    // An event without data is a sign of life.
    if (from === to || !outlet.isOpen()) return;
    const piece = template === null ? null : fillTemplate(template, text, from, to);
    if (piece === null) {
      takeData(text.slice(from, to));
    } else {
      if (credit < creditMax) credit += 1;
      outlet.push(piece);
    }
  }

  function takeData(data: string): void {
    if (data === done) {
      finish();
    } else if (!learn(data)) {
      const chunk = readChunk(data);
      if (chunk.kind === "error") outlet.fail(readError(chunk.body));
      else if (chunk.kind === "chunk") takeChunk(chunk);
      // The rest of an event that the end of the connection cut off says nothing; what was missing is found out anyway.
      else if (!isAtEnd) outlet.fail(createBadAnswer("A chunk is not what was promised."));
    }
  }

  /** Makes a template of a chunk, and with it a piece of the chunk itself. */
  function learn(data: string): boolean {
    const textFrom = credit < lessonCost ? null : findText(data);
    if (textFrom === null) return false;
    credit -= lessonCost;
    const learned = learnTemplate(data, textFrom);
    if (learned === null) return false;
    const piece = fillTemplate(learned, data, 0, data.length);
    if (piece === null) return false;
    template = learned;
    for (const index of learned.indexes) note(index, null);
    outlet.push(piece);
    return true;
  }

  function takeChunk(chunk: CleanChunk): void {
    usage = chunk.usage ?? usage;
    if (chunk.choices.length === 0) return;
    for (const { index, finish_reason: reason } of chunk.choices) note(index, reason);
    const piece = { choices: JSON.stringify(chunk.choices), text: chunk.text };
    outlet.push(chunk.usage === null ? piece : { ...piece, usage: chunk.usage });
  }

  function note(index: number, reason: string | null): void {
    if (reason !== null) unfinished.delete(index);
    else if (!seen.has(index)) unfinished.add(index);
    seen.add(index);
  }

  /** The upstream says that it is done; some say so without having ended each choice. */
  function finish(): void {
    if (seen.size === 0) outlet.fail(createBadAnswer("The stream has no choices."));
    for (const index of unfinished) {
      outlet.push({ choices: JSON.stringify([{ index, delta: {}, finish_reason: "stop" }]), text: "" });
    }
    outlet.end(usage);
  }

  return {
    add(chunk) {
      if (!events.add(chunk)) outlet.fail(createBadAnswer("An event is too large."));
    },
    end() {
      isAtEnd = true;
      events.end();
      if (!outlet.isOpen()) return;
      if (seen.size === 0) outlet.fail(createBadAnswer("The stream has no choices."));
      else if (unfinished.size === 0) outlet.end(usage);
      else outlet.fail(new ProviderError("unreachable", "The stream ended in the middle of an answer."));
    },
    fail(error) {
      // Nothing but the usage can be missing of an answer that has all its finish reasons.
      if (seen.size >= choicesAsked && unfinished.size === 0) outlet.end(usage);
      else outlet.fail(error);
    },
  };
}
