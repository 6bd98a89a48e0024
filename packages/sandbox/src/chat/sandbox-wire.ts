import { createHash } from "node:crypto";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../../../../src/providers/contract.ts";
import type { SandboxEnd, SandboxPart } from "./sandbox-choice.ts";

export type WireOptions = { hasLogprobs: boolean; alternatives: number };

/** The state of a streamed choice across pieces. */
export type ChoiceState = { index: number; contentTokens: number; isBegun: boolean };

/** One token as a piece. The first piece of a choice also has the role. */
export function presentPiece(part: SandboxPart, state: ChoiceState, options: WireOptions): ChatPiece {
  const isContent = part.kind === "content";
  const logprobs =
    isContent && options.hasLogprobs
      ? { content: [presentLogprob(part.text, state.contentTokens, options.alternatives)], refusal: null }
      : null;
  const delta = { ...(state.isBegun ? {} : { role: "assistant" }), ...presentDelta(part) };
  state.isBegun = true;
  if (isContent) state.contentTokens += 1;
  const choices = JSON.stringify([{ index: state.index, delta, logprobs, finish_reason: null }]);
  return { choices, text: part.text };
}

export function presentFinish({ reason, stopSequence }: SandboxEnd, state: ChoiceState): ChatPiece {
  const delta = state.isBegun ? {} : { role: "assistant", content: "" };
  const choices = JSON.stringify([{ index: state.index, delta, logprobs: null, finish_reason: reason }]);
  return { choices, text: "", ...(state.index === 0 && stopSequence !== null ? { stopSequence } : {}) };
}

function presentDelta(part: SandboxPart): Record<string, unknown> {
  switch (part.kind) {
    case "content":
      return { content: part.text };
    case "reasoning":
      return { reasoning_content: part.text };
    case "call": {
      const { id, type } = part.call;
      const opened = type === "function" ? { name: part.text, arguments: "" } : { name: part.text, input: "" };
      return { tool_calls: [{ index: part.index, id, type, [type]: opened }] };
    }
    case "input": {
      const { type } = part.call;
      const fragment = type === "function" ? { arguments: part.text } : { input: part.text };
      return { tool_calls: [{ index: part.index, [type]: fragment }] };
    }
  }
}

type CollectedCall = { id: string; type: "function" | "custom"; name: string; input: string };
type CollectedChoice = {
  content: string;
  reasoning: string;
  calls: CollectedCall[];
  logprobs: unknown[];
  contentTokens: number;
} & SandboxEnd;

/** Joins the parts of a complete answer. */
export function createAnswerCollector(options: WireOptions): {
  add(choiceIndex: number, part: SandboxPart): void;
  finish(choiceIndex: number, end: SandboxEnd): void;
  present(usage: ChatUsage | null): ChatAnswer;
} {
  const choices: CollectedChoice[] = [];
  let text = "";

  function get(index: number): CollectedChoice {
    const choice = choices[index] ?? {
      content: "",
      reasoning: "",
      calls: [],
      logprobs: [],
      contentTokens: 0,
      reason: "stop",
      stopSequence: null,
    };
    choices[index] = choice;
    return choice;
  }

  return {
    add(choiceIndex, part) {
      const choice = get(choiceIndex);
      text += part.text;
      if (part.kind === "reasoning") choice.reasoning += part.text;
      else if (part.kind === "call") choice.calls[part.index] = { ...part.call, input: "" };
      else if (part.kind === "input") addInput(choice.calls[part.index], part.text);
      else {
        choice.content += part.text;
        if (options.hasLogprobs) {
          choice.logprobs.push(presentLogprob(part.text, choice.contentTokens, options.alternatives));
        }
        choice.contentTokens += 1;
      }
    },
    finish(choiceIndex, { reason, stopSequence }) {
      Object.assign(get(choiceIndex), { reason, stopSequence });
    },
    present(usage) {
      const { stopSequence = null } = choices[0] ?? {};
      const stop = stopSequence === null ? {} : { stopSequence };
      return { choices: JSON.stringify(choices.map(presentChoice)), text, ...stop, usage };
    },
  };
}

function addInput(call: CollectedCall | undefined, text: string): void {
  if (call !== undefined) call.input += text;
}

function presentChoice({ content, reasoning, calls, logprobs, reason }: CollectedChoice, index: number): unknown {
  const message = {
    role: "assistant",
    content: calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(presentCall) }),
  };
  return {
    index,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: reason,
  };
}

function presentCall({ id, type, name, input }: CollectedCall): unknown {
  return type === "function"
    ? { id, type, function: { name, arguments: input } }
    : { id, type, custom: { name, input } };
}

const alternatives = " the, a, of, and, to, in, is, it, that, for, as, with, on, be, at, by, this, or, an, not".split(
  ",",
);
/** Each alternative has half of the remaining probability, so that they never add up to more than 1. */
const alternativeLogprobStep = Math.log(2);

type Logprob = { token: string; logprob: number; bytes: number[] };

/** Derived from the token and its position, so that it is deterministic. */
function presentLogprob(token: string, index: number, count: number): Logprob & { top_logprobs: Logprob[] } {
  const chance = createHash("sha1").update(`${index}:${token}`).digest().readUInt16BE(0) / 0x1_0000;
  // Between 0.6 and 1, so that the token is the most likely one.
  const probability = 0.6 + 0.39 * chance;
  const own = describe(token, Math.log(probability));
  const others = alternatives
    .filter((other) => other !== token)
    .map((other, rank) => describe(other, Math.log(1 - probability) - (rank + 1) * alternativeLogprobStep));
  return { ...own, top_logprobs: [own, ...others].slice(0, count) };
}

function describe(token: string, logprob: number): Logprob {
  return { token, logprob: Number(logprob.toFixed(6)), bytes: [...Buffer.from(token)] };
}
