import type { Clock } from "../../lib/clock.ts";
import type { ChatAnswer, ChatPiece, ChatUsage } from "../contract.ts";
import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import type { ErrorReader, Outlet } from "../openai-compatible/outlet.ts";
import { readUpstreamError } from "../openai-compatible/read-upstream-error.ts";
import { readReportedUsage } from "../openai-compatible/read-usage.ts";
import type { AnswerForm } from "../openai-compatible/upstream-chat.ts";
import { createNativeStreamReader, createNativeWholeReader, type EventConverter } from "./read-native-answer.ts";

/** Reads answers of OpenAI's legacy completions API as chat choices, which the presenter of completions turns back. */
export function createCompletionsForm({ clock }: { clock: Clock }): AnswerForm {
  return {
    createReader({ call: { request }, outlet, errors }) {
      if (request.stream === true) {
        return createNativeStreamReader(outlet, new CompletionConverter(outlet, errors, request.n ?? 1));
      }
      return createNativeWholeReader({ outlet, errors, hasLogprobs: request.logprobs === true, convert });
    },
    readError: (refusal) => readUpstreamError({ ...refusal, clock }),
  };
}

type TextChoice = { index: number; text: string; finish_reason: string | null; logprobs?: object };

function convert(answer: JsonRecord): ChatAnswer | null {
  const choices = readChoices(answer);
  if (choices === null || choices.length === 0) return null;
  return {
    choices: JSON.stringify(
      choices.map(({ text, finish_reason: reason, ...choice }) => ({
        ...choice,
        message: { role: "assistant", content: text },
        finish_reason: reason ?? "stop",
      })),
    ),
    text: choices.map(({ text }) => text).join(""),
    usage: readReportedUsage(answer),
  };
}

/** A class, to save memory: there is one per stream. */
class CompletionConverter implements EventConverter {
  private readonly outlet: Outlet;
  private readonly errors: ErrorReader;
  private readonly choicesAsked: number;
  private readonly finished = new Set<number>();
  private reported: ChatUsage | null = null;

  constructor(outlet: Outlet, errors: ErrorReader, choicesAsked: number) {
    this.outlet = outlet;
    this.errors = errors;
    this.choicesAsked = choicesAsked;
  }

  convertKnown(): boolean {
    return false;
  }

  hasFinished(): boolean {
    return this.finished.size >= this.choicesAsked;
  }

  usage(): ChatUsage | null {
    return this.reported;
  }

  take(event: JsonRecord): void {
    if (event.error !== undefined && event.error !== null) {
      this.outlet.fail(this.errors.readError(event));
      return;
    }
    const usage = readReportedUsage(event);
    this.reported = usage ?? this.reported;
    const choices = readChoices(event) ?? [];
    if (choices.length > 0) this.outlet.push(createPiece(choices, usage));
    for (const { index, finish_reason: reason } of choices) if (reason !== null) this.finished.add(index);
    if (this.hasFinished() && this.reported !== null) this.outlet.end(this.reported);
  }
}

function createPiece(choices: readonly TextChoice[], usage: ChatUsage | null): ChatPiece {
  const deltas = choices.map(({ text, ...choice }) => ({ ...choice, delta: text === "" ? {} : { content: text } }));
  const piece: ChatPiece = { choices: JSON.stringify(deltas), text: choices.map(({ text }) => text).join("") };
  return usage === null ? piece : { ...piece, usage };
}

/** `null` if there is no list of choices. */
function readChoices({ choices }: JsonRecord): TextChoice[] | null {
  if (!Array.isArray(choices)) return null;
  return choices.flatMap((value, position) => {
    const choice = asRecord(value);
    if (choice === null) return [];
    const { index, text, finish_reason: reason } = choice;
    const logprobs = readLogprobs(asRecord(choice.logprobs));
    return {
      index: isIndex(index) ? index : position,
      text: typeof text === "string" ? text : "",
      finish_reason: typeof reason === "string" ? (finishReasons.get(reason) ?? "stop") : null,
      ...(logprobs === null ? {} : { logprobs }),
    };
  });
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < choicesMax;
}

/** No request asks for more. */
const choicesMax = 128;

/** The reasons of the completions API; a vendor's own word counts as the first. */
const finishReasons: ReadonlyMap<string, string> = new Map(
  ["stop", "length", "content_filter"].map((reason) => [reason, reason]),
);

/** The lists of the completions API, token by token as in chat. */
function readLogprobs(logprobs: JsonRecord | null): object | null {
  if (logprobs === null || !Array.isArray(logprobs.tokens)) return null;
  const values = Array.isArray(logprobs.token_logprobs) ? logprobs.token_logprobs : [];
  const tops = Array.isArray(logprobs.top_logprobs) ? logprobs.top_logprobs : [];
  return {
    content: logprobs.tokens.map((token, at) => ({
      token: String(token),
      logprob: Number(values[at] ?? 0),
      top_logprobs: Object.entries(asRecord(tops[at]) ?? {}).map(([name, logprob]) => ({
        token: name,
        logprob: Number(logprob),
      })),
    })),
  };
}
