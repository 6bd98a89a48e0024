import { type AnswerSoFar, askChatStream, type ChatBody } from "./ask-chat-stream.ts";
import { type Answer, hasCome, listMessages, type Turn } from "./conversation.ts";
import { createRandomName } from "./create-random-name.ts";
import { findCharge } from "./find-charge.ts";

/** How often an answer is drawn anew while it comes. */
const drawMs = 40;

export type ChatCall = {
  system: string;
  model: string;
  isStreamed: boolean;
  /** Images are not sent to a model that does not see. */
  takesImages: boolean;
  options: Omit<ChatBody, "model" | "messages">;
};

type AskOptions = { started: Answer; signal: AbortSignal; onChange(answer: Answer): void };

/** How an answer ended: with the name that it has in the list of charges, and with why it broke. */
type AskedAnswer = { answer: Answer; failure: Error | null; requestId: string | null };

/** Asks for an answer to what was said before, and tells as it grows. */
export async function askAnswer(
  before: readonly Turn[],
  { system, model, isStreamed, takesImages, options }: ChatCall,
  { started, signal, onChange }: AskOptions,
): Promise<AskedAnswer> {
  const asked = performance.now();
  let answer = started;
  let failure: Error | null = null;
  let requestId: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const draw = (): void => {
    timer = null;
    onChange(answer);
  };
  try {
    await askChatStream(
      { model, messages: listMessages(system, takesImages ? before : before.map(dropImages)), ...options },
      {
        isStreamed,
        signal,
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
    answer = endEarly(answer, error, { isStopped: signal.aborted });
    if (answer.state === "broken") failure = toError(error);
  }
  if (timer !== null) clearTimeout(timer);
  return { answer: { ...answer, totalMs: performance.now() - asked }, failure, requestId };
}

function dropImages(turn: Turn): Turn {
  return turn.kind === "question" ? { ...turn, images: [] } : turn;
}

/** The charge of an answer that did not live to tell it. Who does not hear of it here finds it among the charges. */
export async function findAnswerCharge(answer: Answer, requestId: string): Promise<Answer | null> {
  const charge = await findCharge(requestId, answer.model).catch(() => null);
  return charge === null ? null : { ...answer, bill: { charge } };
}

export function startAnswer(model: string): Answer {
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
  return { ...answer, state: "broken", remark: `The answer was interrupted. ${toError(error).message}` };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("Something unexpected happened.");
}
