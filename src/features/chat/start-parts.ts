import type { ChatAnswer, ChatPiece, ChatRun, ChatSink, ChatUsage, ProviderError } from "../../providers/contract.ts";

/** `accepted`: an upstream has begun to answer one of the requests. */
type Phase = "waiting" | "accepted" | "over";

type Parts = {
  /** Starts one of the requests. */
  starts: readonly ((sink: ChatSink) => ChatRun)[];
  /** The choices of each request. */
  choicesEach: number;
};

/**
 * Runs several requests as one: their choices are numbered consecutively and their usage is added up. If one fails, the
 * whole call fails.
 */
export function startParts({ starts, choicesEach }: Parts, sink: ChatSink): ChatRun {
  const runs: ChatRun[] = [];
  const answers: ChatAnswer[] = [];
  const usages: (ChatUsage | null)[] = [];
  let phase = "waiting" as Phase;

  function cancel(): void {
    phase = "over";
    for (const run of runs) run.cancel();
  }

  function fail(error: ProviderError): void {
    if (phase === "over") return;
    cancel();
    sink.onError(error);
  }

  function createSink(part: number): ChatSink {
    return {
      onHead(headers) {
        if (phase !== "over") sink.onHead?.(headers);
      },
      onAccepted() {
        if (phase !== "waiting") return;
        phase = "accepted";
        sink.onAccepted();
      },
      onPieces(pieces) {
        if (phase !== "over") sink.onPieces(pieces.map((piece) => shiftPiece(piece, part * choicesEach)));
      },
      onEnd(usage) {
        usages.push(usage);
        if (phase === "over" || usages.length < starts.length) return;
        phase = "over";
        sink.onEnd(addUsages(usages));
      },
      onAnswer(answer) {
        answers[part] = answer;
        usages.push(answer.usage);
        if (phase === "over" || usages.length < starts.length) return;
        phase = "over";
        sink.onAnswer(joinAnswers(answers, choicesEach, addUsages(usages)));
      },
      onError: fail,
    };
  }

  for (const [part, start] of starts.entries()) {
    // An earlier one may have failed at once.
    if (phase !== "over") runs.push(start(createSink(part)));
  }
  return {
    pause() {
      for (const run of runs) run.pause();
    },
    resume() {
      for (const run of runs) run.resume();
    },
    cancel,
  };
}

/** Usage before the end is one part's: the total is only known at the end. */
function shiftPiece({ choices, text, isContent, isUnfinished }: ChatPiece, by: number): ChatPiece {
  return {
    choices: JSON.stringify(shiftChoices(choices, by)),
    text,
    ...(isContent === undefined ? {} : { isContent }),
    ...(isUnfinished === undefined ? {} : { isUnfinished }),
  };
}

function shiftChoices(choices: string, by: number): object[] {
  return (JSON.parse(choices) as { index: number }[]).map((choice) => ({ ...choice, index: choice.index + by }));
}

function joinAnswers(answers: readonly ChatAnswer[], choicesEach: number, usage: ChatUsage | null): ChatAnswer {
  const choices = answers.flatMap((answer, part) => shiftChoices(answer.choices, part * choicesEach));
  const joined = { choices: JSON.stringify(choices), text: answers.map(({ text }) => text).join(""), usage };
  return answers.some(({ isContent }) => isContent === true) ? { ...joined, isContent: true } : joined;
}

/** `null` if a part's usage is unknown: a sum without it would be too low. */
function addUsages(usages: readonly (ChatUsage | null)[]): ChatUsage | null {
  const [first = null, ...others] = usages;
  if (first === null) return null;
  const sum = { ...first };
  for (const usage of others) {
    if (usage === null) return null;
    for (const name of Object.keys(sum) as (keyof ChatUsage)[]) sum[name] = (sum[name] ?? 0) + (usage[name] ?? 0);
  }
  return sum;
}
