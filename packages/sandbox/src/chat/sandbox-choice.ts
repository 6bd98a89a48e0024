import type { ChatRequest } from "../../../../src/providers/chat-request.ts";
import type { ChatObstacle } from "../../../../src/providers/contract.ts";
import { readHints } from "../json-schema/sample-hints.ts";
import { sampleSchema } from "../json-schema/schema-sample.ts";
import { longTokensMax } from "../sandbox-script.ts";
import { answerDrama } from "../screenwriter/answer-drama.ts";
import { writeAnswer } from "./sandbox-answer.ts";
import { listWords } from "./sandbox-languages.ts";
import type { SandboxPrompt } from "./sandbox-prompt.ts";
import { splitTokens } from "./sandbox-tokens.ts";
import { planCalls, type SandboxCall } from "./sandbox-tools.ts";

/** A part of an answer: each is one token. */
export type SandboxPart =
  | { kind: "reasoning" | "content"; text: string }
  /** The start of a tool call, with the name as its text. */
  | { kind: "call"; text: string; index: number; call: SandboxCall }
  | { kind: "input"; text: string; index: number; call: SandboxCall };

type FinishReason = "stop" | "length" | "tool_calls";

/** The planned answer, the same for every choice except for its first words. */
export type SandboxPlan = {
  reasoning: string;
  calls: readonly SandboxCall[];
  /** For an answer that is too long to keep in memory, only its length. */
  content: string | { tokens: number };
  isProse: boolean;
  stops: readonly string[];
};

const stopCharactersMax = 1000;
const openings = ["", "In other words: ", "Put differently: ", "Once more: "];
const thoughts = [
  "Let me see what is asked.",
  "I have rules for greetings, sums, lists and a few other things.",
  "The simplest rule that fits is the best one.",
];
const thoughtsByEffort: Record<string, number> = { minimal: 1, low: 1, medium: 2 };
const longSentences = [
  "This is one of many sentences that the sandbox writes when a long answer is asked for.",
  " It has no meaning, but it comes in order and never stops too early.",
  " Whoever counts the tokens will find as many as were ordered.\n\n",
];

/** Returns an obstacle if the model does not support something in the request. */
export function planAnswer(request: ChatRequest, prompt: SandboxPrompt): SandboxPlan | ChatObstacle {
  const stops = (Array.isArray(request.stop) ? request.stop : [request.stop ?? ""]).filter((stop) => stop !== "");
  if (stops.some((stop) => stop.length > stopCharactersMax)) {
    return { param: "stop", message: `A stop sequence may have ${stopCharactersMax} characters.` };
  }
  const base = { reasoning: writeReasoning(request, prompt), calls: [], content: "", isProse: false, stops };
  const { isEmpty, longTokens } = prompt.script;
  if (isEmpty) return { ...base, reasoning: "" };
  if (longTokens !== null) return { ...base, content: { tokens: Math.min(longTokens, countLongTokensMax(request)) } };
  const calls = planCalls(request, prompt);
  if ("param" in calls) return calls;
  if (calls.length > 0) return { ...base, calls };
  return planText(request, prompt, base);
}

function planText(request: ChatRequest, prompt: SandboxPrompt, base: SandboxPlan): SandboxPlan | ChatObstacle {
  const format = request.response_format ?? { type: "text" };
  const written = format.type === "json_schema" ? answerDrama(format.json_schema, prompt.question) : null;
  if (written !== null) return { ...base, content: JSON.stringify(written) };
  const answer = writeAnswer(prompt);
  if (format.type === "text") return { ...base, content: answer, isProse: true };
  const schema = format.type === "json_schema" ? format.json_schema.schema : undefined;
  if (schema === undefined) return { ...base, content: JSON.stringify({ answer }) };
  const sample = sampleSchema(schema, readHints(prompt.question, answer));
  if (sample.kind === "value") return { ...base, content: JSON.stringify(sample.value) };
  return { param: "response_format.json_schema.schema", message: sample.message };
}

/** All choices together, with all log probabilities, stay within the limit of one answer. */
function countLongTokensMax({ n, top_logprobs: alternatives }: ChatRequest): number {
  return Math.floor(longTokensMax / ((n ?? 1) * (1 + (alternatives ?? 0))));
}

function writeReasoning({ reasoning_effort: effort }: ChatRequest, { question }: SandboxPrompt): string {
  if (effort === undefined || effort === null || effort === "none") return "";
  const said = `The user wrote ${listWords(question.slice(0, 4000)).length} words.`;
  return [said, ...thoughts.slice(0, thoughtsByEffort[effort] ?? thoughts.length)].join(" ");
}

/** How a choice ended, and the stop sequence that ended it. */
export type SandboxEnd = { reason: FinishReason; stopSequence: string | null };

/** Generates the parts of one choice lazily, up to a maximum, and returns how it ended. */
export function* listParts(
  plan: SandboxPlan,
  choice: { index: number; tokensMax: number },
): Generator<SandboxPart, SandboxEnd> {
  let left = choice.tokensMax;
  const parts = listAllParts(plan, choice.index);
  let next = parts.next();
  for (; next.done !== true; next = parts.next()) {
    if (left <= 0) return { reason: "length", stopSequence: null };
    left -= 1;
    yield next.value;
  }
  return { reason: plan.calls.length > 0 ? "tool_calls" : "stop", stopSequence: next.value };
}

/** Returns the stop sequence that ended the content. */
function* listAllParts(plan: SandboxPlan, choiceIndex: number): Generator<SandboxPart, string | null> {
  for (const text of splitTokens(plan.reasoning)) yield { kind: "reasoning", text };
  for (const [index, call] of plan.calls.entries()) {
    const ownCall = choiceIndex === 0 ? call : { ...call, id: `${call.id}${choiceIndex}` };
    yield { kind: "call", text: call.name, index, call: ownCall };
    for (const text of splitTokens(call.input)) yield { kind: "input", text, index, call: ownCall };
  }
  const texts = stopTokens(listContent(plan, choiceIndex), plan.stops);
  let next = texts.next();
  for (; next.done !== true; next = texts.next()) yield { kind: "content", text: next.value };
  return next.value;
}

function* listContent({ content, isProse }: SandboxPlan, choiceIndex: number): Generator<string, void> {
  if (typeof content !== "string") return yield* listLongContent(content.tokens);
  yield* splitTokens((isProse ? (openings[choiceIndex % openings.length] ?? "") : "") + content);
}

function* listLongContent(tokens: number): Generator<string, void> {
  let left = tokens;
  while (left > 0) {
    for (const sentence of longSentences) {
      for (const token of splitTokens(sentence)) {
        if (left <= 0) return;
        left -= 1;
        yield token;
      }
    }
  }
}

/** Ends before the first stop sequence, and returns it. Holds back tokens that may be the start of one. */
function* stopTokens(tokens: Iterable<string>, stops: readonly string[]): Generator<string, string | null> {
  const heldMax = Math.max(0, ...stops.map((stop) => stop.length - 1));
  let held: string[] = [];
  for (const token of tokens) {
    held.push(token);
    const text = held.join("");
    const [found] = stops
      .map((stop) => ({ stop, at: text.indexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .toSorted((one, other) => one.at - other.at);
    if (found !== undefined) {
      yield* cutTokens(held, found.at);
      return found.stop;
    }
    let length = text.length;
    let known = 0;
    while (known < held.length && length - (held[known] ?? "").length >= heldMax) {
      length -= (held[known] ?? "").length;
      known += 1;
    }
    yield* held.slice(0, known);
    held = held.slice(known);
  }
  yield* held;
  return null;
}

function* cutTokens(tokens: readonly string[], length: number): Generator<string, void> {
  let left = length;
  for (const token of tokens) {
    if (left <= 0) return;
    yield token.slice(0, left);
    left -= token.length;
  }
}
