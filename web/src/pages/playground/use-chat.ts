import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/console-api.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { leaveForSignIn } from "../../parts/session/leave-for-sign-in.ts";
import { type AnswerSoFar, askChatStream, type ChatBody } from "./ask-chat-stream.ts";
import { type Answer, dropLastAnswer, hasCome, listMessages, parseTurns, type Turn, turnsMax } from "./conversation.ts";
import { createRandomName } from "./create-random-name.ts";
import { findCharge } from "./find-charge.ts";
import { useKeptState } from "./use-kept-state.ts";

/** How often an answer is drawn anew while it comes. */
const drawMs = 40;

type ChatCall = { system: string; model: string; isStreamed: boolean; options: Omit<ChatBody, "model" | "messages"> };

const keptTurns = {
  parse: parseTurns,
  // Images take most of the space.
  shorten: (turns: Turn[]): Turn[] => turns.map((turn) => (turn.kind === "question" ? { ...turn, images: [] } : turn)),
};

/** The conversation, and who answers. One answer comes at a time. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one conversation; its functions share its state.
export function useChat() {
  const answers = useAnswerCache();
  const [turns, setTurns] = useKeptState("conversation", keptTurns);
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  // Whoever leaves the page does not wait for the answer, so nobody should go on with it.
  useEffect(() => () => running.current?.abort(), []);

  const replace = useCallback(
    (answer: Answer) => setTurns((last) => last.map((turn) => (turn.id === answer.id ? answer : turn))),
    [setTurns],
  );

  async function ask(before: readonly Turn[], { system, model, isStreamed, options }: ChatCall): Promise<void> {
    const stopper = new AbortController();
    running.current = stopper;
    setBusy(true);
    setFailure(null);
    const asked = performance.now();
    let answer = startAnswer(model);
    let requestId: string | null = null;
    setTurns([...before, answer].slice(-turnsMax));
    let timer: ReturnType<typeof setTimeout> | null = null;
    const draw = (): void => {
      timer = null;
      replace(answer);
    };
    try {
      await askChatStream(
        { model, messages: listMessages(system, before), ...options },
        {
          isStreamed,
          signal: stopper.signal,
          onAccepted(id) {
            requestId = id;
          },
          onChange(soFar) {
            answer = growAnswer(answer, soFar, performance.now() - asked);
            timer ??= setTimeout(draw, drawMs);
          },
        },
      );
      answer = { ...answer, state: "complete" };
    } catch (error) {
      answer = endEarly(answer, error, { isStopped: stopper.signal.aborted });
      if (answer.state === "broken") noticeFailure(error, setFailure);
    }
    if (timer !== null) clearTimeout(timer);
    answer = { ...answer, totalMs: performance.now() - asked };
    // An answer of which nothing came is told by the failure alone.
    if (answer.state === "broken" && !hasCome(answer)) setTurns([...before]);
    else replace(answer);
    setBusy(false);
    if (answer.bill === null && requestId !== null) await addCharge(answer, requestId, replace);
    void answers.refresh("balance");
  }

  return {
    turns,
    failure,
    isBusy,
    /** Adds what was asked, or what tools said, and asks for the answer. */
    send: (added: readonly Turn[], call: ChatCall) => void ask([...turns, ...added], call),
    repeat: (call: ChatCall) => void ask(dropLastAnswer(turns), call),
    stop: () => running.current?.abort(),
    /** Takes the conversation back to before the given turn. */
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

async function addCharge(answer: Answer, requestId: string, replace: (answer: Answer) => void): Promise<void> {
  // Whoever does not hear of a charge here finds it among the account's charges.
  const charge = await findCharge(requestId, answer.model).catch(() => null);
  if (charge !== null) replace({ ...answer, bill: { charge } });
}

function startAnswer(model: string): Answer {
  return {
    kind: "answer",
    id: createRandomName(),
    model,
    text: "",
    reasoning: "",
    toolCalls: [],
    state: "streaming",
    remark: null,
    bill: null,
    firstTokenMs: null,
    totalMs: null,
  };
}

function growAnswer(answer: Answer, soFar: AnswerSoFar, sinceMs: number): Answer {
  const { text, reasoning, toolCalls, bill } = soFar;
  const grown = { ...answer, text, reasoning, toolCalls, bill, remark: explainEnd(soFar) };
  return { ...grown, firstTokenMs: answer.firstTokenMs ?? (hasCome(grown) ? sinceMs : null) };
}

/** Why an answer that ended is shorter than it could be. */
function explainEnd({ finishReason, isOutOfMoney }: Pick<AnswerSoFar, "finishReason" | "isOutOfMoney">): string | null {
  if (isOutOfMoney) return "The answer was cut short because the balance is used up.";
  if (finishReason === "length") return "The answer was cut short: it reached max output tokens.";
  if (finishReason === "content_filter") return "The rest of the answer was withheld.";
  return null;
}

function endEarly(answer: Answer, error: unknown, { isStopped }: { isStopped: boolean }): Answer {
  if (isStopped) return { ...answer, state: "stopped", remark: "You stopped this answer." };
  const reason = error instanceof Error ? error.message : "Something unexpected happened.";
  return { ...answer, state: "broken", remark: `The answer was interrupted. ${reason}` };
}

function noticeFailure(error: unknown, show: (failure: Error) => void): void {
  if (error instanceof ApiError && error.code === "not_signed_in") leaveForSignIn();
  else show(error instanceof Error ? error : new Error("Something unexpected happened."));
}
