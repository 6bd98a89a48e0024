import type { ChatUsage } from "../contract.ts";
import { asRecord } from "./json-value.ts";
import { createBadAnswer, type Outlet } from "./outlet.ts";
import { sanitiseAnswerChoices } from "./read-answer.ts";

const charactersMax = 32 * 1024 * 1024;
/** Fields that arrive in fragments. Others arrive once, or are repeated. */
const growingFields = new Set(["content", "refusal", "reasoning_content", "arguments", "input", "data", "transcript"]);

type Collected = Record<string, unknown>;

/** Joins the pieces of a stream for a caller who wants a complete answer. */
export function collectAnswer(outlet: Outlet): Outlet {
  const choices = new Map<number, Collected>();
  const texts: string[] = [];
  let characters = 0;
  const mark: { isContent?: true } = {};

  function buildChoices(): string {
    const inOrder = [...choices.entries()].sort(([first], [second]) => first - second).map(([, choice]) => choice);
    return JSON.stringify(sanitiseAnswerChoices(inOrder, { text: "" }));
  }

  return {
    isOpen: () => outlet.isOpen(),
    push(piece) {
      characters += piece.choices.length;
      if (characters > charactersMax) return outlet.fail(createBadAnswer("The response is too large."));
      texts.push(piece.text);
      if (piece.isContent === true) mark.isContent = true;
      for (const { index, delta, finish_reason: reason, logprobs } of JSON.parse(piece.choices)) {
        const choice = choices.get(index) ?? { index, message: {} };
        choices.set(index, choice);
        merge(choice, { message: delta, logprobs: logprobs ?? null, finish_reason: reason });
      }
    },
    end(usage: ChatUsage | null, rest) {
      outlet.answer({ choices: buildChoices(), text: texts.join(""), ...mark, usage }, rest);
    },
    answer: (answer, rest) => outlet.answer(answer, rest),
    fail: (error) => outlet.fail(error),
    shut: () => outlet.shut(),
  };
}

/** Merges a chunk into the chunks before it. */
function merge(target: Collected, source: Collected): void {
  for (const [name, value] of Object.entries(source)) {
    const known = target[name];
    const record = asRecord(value);
    if (name === "tool_calls" && Array.isArray(value)) target[name] = mergeToolCalls(known, value);
    else if (Array.isArray(value)) target[name] = [...(Array.isArray(known) ? known : []), ...value];
    else if (record !== null) {
      const into: Collected = { ...asRecord(known) };
      merge(into, record);
      target[name] = into;
    } else if (typeof known === "string" && typeof value === "string" && growingFields.has(name)) {
      target[name] = known + value;
    } else if (known === undefined || known === null) target[name] = value;
  }
}

function mergeToolCalls(known: unknown, fragments: readonly Collected[]): Collected[] {
  const calls: Collected[] = Array.isArray(known) ? known : [];
  for (const fragment of fragments) {
    let call = calls.find(({ index }) => index === fragment.index);
    if (call === undefined) {
      call = {};
      calls.push(call);
    }
    merge(call, fragment);
  }
  return calls.sort((one, other) => Number(one.index) - Number(other.index));
}
