import { type ChatUsage, ProviderError } from "../contract.ts";
import { type ChoicesForm, hasText, type KnownForms, learnForm } from "./choices-form.ts";
import { type ChunkEnvelope, cutChoices, learnEnvelope } from "./chunk-envelope.ts";
import { type ChunkTemplate, createTemplate, fillTemplate } from "./chunk-template.ts";
import { parseJson } from "./json-value.ts";
import { type AnswerReader, createBadAnswer, type Outlet } from "./outlet.ts";
import { type CleanChoices, readChoices, readChunk } from "./read-chunk.ts";
import { createEventReader } from "./read-events.ts";

type StreamParts = {
  outlet: Outlet;
  /** How many choices the caller asked for. */
  choicesAsked: number;
  /** What earlier answers of this upstream taught. */
  forms: KnownForms;
  readError(body: unknown): ProviderError;
};

const done = "[DONE]";
/** Learning costs about as much as this many chunks that are read the slow way, so it has to be earned by as many hits. */
const lessonCost = 2;
const creditMax = 8 * lessonCost;

/** Reads a streamed answer: bytes become events, and events pieces. */
export function createStreamReader({ outlet, choicesAsked, forms, readError }: StreamParts): AnswerReader {
  const events = createEventReader(onEvent);
  const seen = new Set<number>();
  const unfinished = new Set<number>();
  let usage: ChatUsage | null = null;
  let envelope: ChunkEnvelope | null = null;
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
    } else if (!takeKnown(data)) {
      const chunk = readChunk(data);
      if (chunk.kind === "error") outlet.fail(readError(chunk.body));
      else if (chunk.kind === "chunk") takeChoices(chunk, chunk.usage);
      // The rest of an event that the end of the connection cut off says nothing; what was missing is found out anyway.
      else if (!isAtEnd) outlet.fail(createBadAnswer("A chunk is not what was promised."));
    }
  }

  /** Takes a chunk with an envelope that is known, or can be learned: nothing but its choices need to be looked at. */
  function takeKnown(data: string): boolean {
    let choices = envelope === null ? null : cutChoices(envelope, data);
    if (choices === null && hasText(data)) {
      envelope = learn(learnEnvelope, data) ?? envelope;
      choices = envelope === null ? null : cutChoices(envelope, data);
    }
    if (envelope === null || choices === null) return false;
    const form = forms.find(choices) ?? learnNewForm(choices);
    if (form === null) {
      const value = parseJson(choices);
      if (value !== undefined) takeChoices(readChoices(value), null);
      return value !== undefined;
    }
    template = createTemplate(envelope, form);
    const piece = fillTemplate(template, data, 0, data.length);
    if (piece === null) return false;
    for (const index of form.indexes) note(index, null);
    outlet.push(piece);
    return true;
  }

  function learnNewForm(choices: string): ChoicesForm | null {
    const form = learn(learnForm, choices);
    if (form !== null) forms.add(form);
    return form;
  }

  function learn<T>(lesson: (text: string) => T | null, text: string): T | null {
    if (credit < lessonCost || !hasText(text)) return null;
    credit -= lessonCost;
    return lesson(text);
  }

  function takeChoices({ choices, text }: CleanChoices, reported: ChatUsage | null): void {
    usage = reported ?? usage;
    if (choices.length === 0) return;
    for (const { index, finish_reason: reason } of choices) note(index, reason);
    const piece = { choices: JSON.stringify(choices), text };
    outlet.push(reported === null ? piece : { ...piece, usage: reported });
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
