import { useEffect, useRef, useState } from "react";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { dropAnswer, listTurns, parseRounds, type Round, replaceAnswer } from "./comparison.ts";
import { type Answer, hasCome, type Question } from "./conversation.ts";
import { type ChatCall, findAnswerCharge, generateAnswer, startAnswer } from "./generate-answer.ts";
import { noticeFailure } from "./use-chat.ts";
import { useStoredState } from "./use-stored-state.ts";

const kept = {
  parse: parseRounds,
  // Images take most of the space.
  shorten: (rounds: Round[]): Round[] =>
    rounds.map((round) => ({ ...round, question: { ...round.question, images: [] } })),
};

/** Sends the same prompts to several models. Each responds, fails and stops independently. */
export function useChatComparison() {
  const cache = useQueryCache();
  const [rounds, setRounds] = useStoredState("comparison", kept);
  const [failures, setFailures] = useState<ReadonlyMap<string, Error>>(new Map());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const stoppers = useRef(new Set<AbortController>());
  const stopAll = () => {
    for (const stopper of stoppers.current) stopper.abort();
  };
  useEffect(() => {
    const running = stoppers.current;
    // Abort when the page is left.
    return () => {
      for (const stopper of running) stopper.abort();
    };
  }, []);

  async function ask(before: readonly Round[], roundId: string, call: ChatCall): Promise<void> {
    const { model } = call;
    const place = placeOf(roundId, model);
    const stopper = new AbortController();
    stoppers.current.add(stopper);
    const replace = (answer: Answer) => setRounds((last) => replaceAnswer(last, roundId, answer));
    setOpen((last) => new Set([...last, place]));
    setFailures((last) => new Map([...last].filter(([at]) => at !== place)));
    const started = startAnswer(model);
    replace(started);
    const turns = listTurns(before, roundId, model);
    const ended = await generateAnswer(turns, call, { started, signal: stopper.signal, onChange: replace });
    stoppers.current.delete(stopper);
    setOpen((last) => new Set([...last].filter((at) => at !== place)));
    const { failure } = ended;
    if (failure !== null) noticeFailure(failure, (error) => setFailures((last) => new Map([...last, [place, error]])));
    // An empty response is reported by its error alone.
    if (ended.answer.state === "broken" && !hasCome(ended.answer))
      setRounds((last) => dropAnswer(last, roundId, model));
    else replace(ended.answer);
    if (ended.answer.bill === null && ended.requestId !== null) {
      const charged = await findAnswerCharge(ended.answer, ended.requestId);
      if (charged !== null) replace(charged);
    }
    void cache.refresh("balance");
  }

  return {
    rounds,
    isBusy: open.size > 0,
    isOpen: (roundId: string, model: string) => open.has(placeOf(roundId, model)),
    failureAt: (roundId: string, model: string) => failures.get(placeOf(roundId, model)) ?? null,
    send(question: Question, calls: readonly ChatCall[]) {
      const asked = [...rounds, { question, answers: {} }];
      setRounds(asked);
      for (const call of calls) void ask(asked, question.id, call);
    },
    /** Retries one model, or asks it for the first time. */
    repeat: (roundId: string, call: ChatCall) => void ask(rounds, roundId, call),
    stopAll,
    clear() {
      stopAll();
      setFailures(new Map());
      setRounds([]);
    },
  };
}

function placeOf(roundId: string, model: string): string {
  return `${roundId} ${model}`;
}
