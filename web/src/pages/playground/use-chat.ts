import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { redirectToSignIn } from "../../parts/session/redirect-to-sign-in.ts";
import { type Answer, dropLastAnswer, hasCome, parseTurns, type Turn, turnsMax } from "./conversation.ts";
import { type ChatCall, findAnswerCharge, generateAnswer, startAnswer } from "./generate-answer.ts";
import { useStoredState } from "./use-stored-state.ts";

const keptTurns = {
  parse: parseTurns,
  // Images take most of the space.
  shorten: (turns: Turn[]): Turn[] => turns.map((turn) => (turn.kind === "question" ? { ...turn, images: [] } : turn)),
};

/** A conversation with one response at a time. */
export function useChat() {
  const answers = useQueryCache();
  const [turns, setTurns] = useStoredState("conversation", keptTurns);
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  // Abort when the page is left, so the provider stops generating.
  useEffect(() => () => running.current?.abort(), []);

  const replace = useCallback(
    (answer: Answer) => setTurns((last) => last.map((turn) => (turn.id === answer.id ? answer : turn))),
    [setTurns],
  );

  async function ask(before: readonly Turn[], call: ChatCall): Promise<void> {
    const stopper = new AbortController();
    running.current = stopper;
    setBusy(true);
    setFailure(null);
    const started = startAnswer(call.model);
    setTurns([...before, started].slice(-turnsMax));
    const ended = await generateAnswer(before, call, { started, signal: stopper.signal, onChange: replace });
    if (ended.failure !== null) noticeFailure(ended.failure, setFailure);
    // An empty response is reported by its error alone.
    if (ended.answer.state === "broken" && !hasCome(ended.answer)) setTurns([...before]);
    else replace(ended.answer);
    setBusy(false);
    if (ended.answer.bill === null && ended.requestId !== null) {
      const charged = await findAnswerCharge(ended.answer, ended.requestId);
      if (charged !== null) replace(charged);
    }
    void answers.refresh("balance");
  }

  return {
    turns,
    failure,
    isBusy,
    /** Appends a prompt or tool results, and requests a response. */
    send: (added: readonly Turn[], call: ChatCall) => void ask([...turns, ...added], call),
    repeat: (call: ChatCall) => void ask(dropLastAnswer(turns), call),
    stop: () => running.current?.abort(),
    /** Removes the given turn and all after it. */
    cutBefore(id: string) {
      setFailure(null);
      setTurns((last) =>
        last.slice(
          0,
          Math.max(
            0,
            last.findIndex((turn) => turn.id === id),
          ),
        ),
      );
    },
    clear() {
      running.current?.abort();
      setFailure(null);
      setTurns([]);
    },
  };
}

/** An expired session redirects to sign-in; other errors are shown. */
export function noticeFailure(failure: Error, show: (failure: Error) => void): void {
  if (failure instanceof ApiError && failure.code === "not_signed_in") redirectToSignIn();
  else show(failure);
}
