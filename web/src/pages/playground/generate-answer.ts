import { api, ask } from "../../api/console-api.ts";
import { type Answer, hasCome, listMessages, type Turn } from "./conversation.ts";
import { createRandomName } from "./create-random-name.ts";
import { type AnswerSoFar, type ChatBody, streamChatAnswer } from "./stream-chat-answer.ts";

/** Render interval while streaming. */
const drawMs = 40;

export type ChatCall = {
  system: string;
  model: string;
  isStreamed: boolean;
  /** Images are dropped for models without vision. */
  takesImages: boolean;
  options: Omit<ChatBody, "model" | "messages">;
};

type AskOptions = { started: Answer; signal: AbortSignal; onChange(answer: Answer): void };

/** How a response ended: its request id, and its error if it failed. */
type AskedAnswer = { answer: Answer; failure: Error | null; requestId: string | null };

/** Streams a response to the conversation. */
export async function generateAnswer(
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
    await streamChatAnswer(
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

/** The charge of a response that ended without usage. If it is not found in time, the usage page shows it. */
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

/** Why a finished response is shorter than it could be. */
function explainEnd({ finishReason, isOutOfMoney }: Pick<AnswerSoFar, "finishReason" | "isOutOfMoney">): string | null {
  if (isOutOfMoney) return "The response was cut off because your balance is used up. Add credit to continue.";
  if (finishReason === "length") return "The response reached max output tokens. Increase the limit to get more.";
  if (finishReason === "content_filter") return "The provider's content filter withheld the rest of the response.";
  return null;
}

function endEarly(answer: Answer, error: unknown, { isStopped }: { isStopped: boolean }): Answer {
  if (isStopped) return { ...answer, state: "stopped", remark: "You stopped this response." };
  return { ...answer, state: "broken", remark: `The response was interrupted. ${toError(error).message}` };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error("Something went wrong. Try again.");
}

const lookEveryMs = 400;
const looksMax = 8;
const newestCharges = 20;

/**
 * The charge of an aborted call, which is settled shortly after the disconnect. `null` if not found in time; the usage
 * page shows it later.
 */
async function findCharge(requestId: string, model: string): Promise<string | null> {
  for (let look = 0; look < looksMax; look++) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    const { data } = await ask(api.GET("/charges", { params: { query: { model, limit: newestCharges } } }));
    const charge = data.find((each) => each.request_id === requestId);
    if (charge !== undefined) return charge.charge;
  }
  return null;
}
