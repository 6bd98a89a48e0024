import type { Behaviour, UsageCounts } from "./behaviour.ts";
import { inventValue } from "./invent-value.ts";

/** A request to a vendor, independent of its format. */
export type Ask = {
  model: string;
  isStreamed: boolean;
  /** The last user message, which is echoed. */
  prompt: string;
  /** The result of a tool, if that was the last message. */
  toolResult: string | null;
  inputTokens: number;
  outputTokensMax: number;
  choiceCount: number;
  stopSequences: readonly string[];
  tools: readonly OfferedTool[];
  toolChoice: "auto" | "none" | "required" | { name: string };
  isParallel: boolean;
  wantsThinking: boolean;
  /** The schema of the requested JSON; `null` for plain text. */
  jsonSchema: Record<string, unknown> | null;
  /** How many alternatives are listed for each token; `null` when no probabilities are requested. */
  logprobCount: number | null;
  wantsStreamUsage: boolean;
};

export type OfferedTool = { name: string; schema: unknown; isCustom: boolean };

/** An answer, independent of the vendor's format. */
export type AnswerPlan = {
  choices: readonly PlannedChoice[];
  /** `null` when the vendor reports nothing. */
  usage: UsageCounts | null;
};

export type PlannedChoice = {
  index: number;
  thinking: readonly string[];
  text: readonly string[];
  toolCalls: readonly PlannedToolCall[];
  finish: "stop" | "stop-sequence" | "length" | "tool-calls" | "blocked" | { inVendorsWords: string };
  stopSequence: string | null;
};

export type PlannedToolCall = { id: string; name: string; fragments: readonly string[]; isCustom: boolean };

const fragmentChars = 7;

/** Plans the answer; the same question always gets the same one. `callNumber` makes the ids of tool calls unique. */
export function planAnswer(ask: Ask, behaviour: Behaviour, callNumber: number): AnswerPlan {
  const choices = Array.from({ length: ask.choiceCount }, (_, index) =>
    planChoice(ask, behaviour, { callNumber, index }),
  );
  if (behaviour.usage === null) return { choices, usage: null };
  const unseenTokens = behaviour.writesToCap === "hidden" ? ask.outputTokensMax * ask.choiceCount : 0;
  const reasoningTokens = unseenTokens + sum(choices.map(({ thinking }) => thinking.length));
  const written = choices.map(
    ({ text, toolCalls }) => text.length + sum(toolCalls.map(({ fragments }) => fragments.length)),
  );
  const counted = {
    inputTokens: ask.inputTokens,
    outputTokens: reasoningTokens + sum(written),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
  return { choices, usage: { ...counted, ...behaviour.usage } };
}

function planChoice(
  ask: Ask,
  behaviour: Behaviour,
  { callNumber, index }: { callNumber: number; index: number },
): PlannedChoice {
  const nothing = { index, thinking: [], text: [], toolCalls: [], stopSequence: null };
  if (behaviour.isBlocked === true) return { ...nothing, finish: "blocked" };
  if (behaviour.writesToCap !== undefined) {
    const words = behaviour.writesToCap === "seen" ? ask.outputTokensMax : 0;
    return { ...nothing, text: Array.from({ length: words }, () => "abcd"), finish: "length" };
  }
  const toolCalls = planToolCalls(ask, behaviour, `call_${callNumber}_${index}`);
  const isScripted = behaviour.text !== undefined || behaviour.pieces !== undefined;
  const said = toolCalls.length > 0 && !isScripted ? "" : say(ask, behaviour, index);
  const stopSequence = findFirstStop(said, ask.stopSequences);
  const spoken = stopSequence === null ? said : said.slice(0, said.indexOf(stopSequence));
  const thought = behaviour.thinking ?? (ask.wantsThinking ? `Somebody asks: ${ask.prompt}` : "");
  const thinking = splitIntoTokens(thought).slice(0, ask.outputTokensMax);
  const textMax = ask.outputTokensMax - thinking.length;
  // Scripted pieces are sent unchanged, however many: a vendor may exceed its limit.
  const text = behaviour.pieces ?? splitIntoTokens(spoken).slice(0, textMax);
  const isCut = behaviour.pieces === undefined && text.length < splitIntoTokens(spoken).length;
  const choice = { index, thinking, text, toolCalls, stopSequence };
  if (behaviour.finishReason !== undefined) return { ...choice, finish: { inVendorsWords: behaviour.finishReason } };
  if (isCut) return { ...choice, toolCalls: [], finish: "length" };
  if (toolCalls.length > 0) return { ...choice, finish: "tool-calls" };
  return { ...choice, finish: stopSequence === null ? "stop" : "stop-sequence" };
}

function say(ask: Ask, behaviour: Behaviour, index: number): string {
  const scripted = behaviour.pieces?.join("") ?? behaviour.text;
  if (scripted !== undefined) return scripted;
  if (ask.jsonSchema !== null) return JSON.stringify(inventValue(ask.jsonSchema));
  const said = ask.toolResult === null ? `Echo: ${ask.prompt}` : `The tool says: ${ask.toolResult}`;
  return index === 0 ? said : `${said} (choice ${index + 1})`;
}

function planToolCalls(ask: Ask, behaviour: Behaviour, idStart: string): PlannedToolCall[] {
  if (behaviour.toolCalls !== undefined) {
    return behaviour.toolCalls.map((call, position) => ({ id: `${idStart}_${position}`, isCustom: false, ...call }));
  }
  return chooseTools(ask).map(({ name, schema, isCustom }, position) => {
    const input = isCustom ? ask.prompt : JSON.stringify(inventValue(schema));
    return { id: `${idStart}_${position}`, name, isCustom, fragments: input.match(fragmentPattern) ?? [] };
  });
}

const fragmentPattern = new RegExp(`[^]{1,${fragmentChars}}`, "gu");

/**
 * A tool is called if the request forces it, or if the prompt contains `call` and its name; never again after its
 * result.
 */
function chooseTools({ tools, toolChoice, toolResult, prompt, isParallel }: Ask): readonly OfferedTool[] {
  if (toolChoice === "none" || toolResult !== null) return [];
  if (typeof toolChoice === "object") return tools.filter(({ name }) => name === toolChoice.name);
  const words = new Set(prompt.split(/[^\w-]+/));
  const named = words.has("call") ? tools.filter(({ name }) => words.has(name)) : [];
  const chosen = named.length === 0 && toolChoice === "required" ? tools.slice(0, 1) : named;
  return isParallel ? chosen : chosen.slice(0, 1);
}

/** A word with the space before it; long words, and scripts without spaces, are split. */
function splitIntoTokens(text: string): string[] {
  return text.match(/\s*\S{1,12}|\s+/gu) ?? [];
}

function findFirstStop(text: string, sequences: readonly string[]): string | null {
  const found = sequences.filter((sequence) => text.includes(sequence));
  return found.sort((one, other) => text.indexOf(one) - text.indexOf(other))[0] ?? null;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
