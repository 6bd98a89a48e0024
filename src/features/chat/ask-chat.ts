import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatMessage, ChatRequest } from "../../providers/chat-request.ts";
import type { ChatRun, ChatSink } from "../../providers/contract.ts";
import { type CallAttempt, type CostPayer, presentAttempt } from "../calls/index.ts";
import type { ChatKinds } from "./chat-kinds.ts";
import { type ChatTarget, listAbleTargets } from "./chat-target.ts";
import { explainChatFailure } from "./explain-chat-failure.ts";
import { type ChatDependencies, chatOperation, findCallMs, findChatCost, sendChat } from "./prepare-chat.ts";
import { isPlausible } from "./quote-chat.ts";

/** A call that the gateway itself makes to a model. The account is charged elsewhere. */
export type ChatQuestion = {
  modelId: string;
  messages: ChatMessage[];
  /** The schema of the answer, for models that support it. The messages must describe it for the others. */
  schema: { name: string; schema: Record<string, unknown> };
  outputTokensMax: number;
  /** Targets that gave a useless answer before; used only if there is no other. */
  avoided: readonly ChatTarget[];
  /** The account and the model that the work is for: the cost counts as theirs. */
  payer: CostPayer | null;
};

/** The answer, complete or cut off, and the target that gave it. */
export type ChatReply = { text: string; isWhole: boolean; target: ChatTarget };

/** Calls a model on any upstream that serves it. Throws what a caller would get if none does. */
export async function askChat(
  { calls, logger, catalog, listTargets }: ChatDependencies,
  question: ChatQuestion,
  signal: AbortSignal,
): Promise<ChatReply> {
  signal.throwIfAborted();
  const view = catalog.current();
  const model = view.modelById.get(question.modelId);
  if (model === undefined)
    throw new AppError("model_unroutable", "No upstream can serve this model right now. Try again later.");
  const request: ChatRequest = { model: model.id, messages: question.messages };
  if (model.capabilities.includes("json_schema")) {
    request.response_format = { type: "json_schema", json_schema: { ...question.schema, strict: true } };
  }
  const able = listAbleTargets(listTargets(view, model.id), request);
  if (able.kind === "unable") throw new AppError("unsupported_capability", able.obstacle.message);
  const fresh = able.targets.filter((target) => !question.avoided.includes(target));
  const outputTokensMax = Math.min(
    question.outputTokensMax,
    model.limits.max_output_tokens ?? Number.POSITIVE_INFINITY,
  );
  return await new Promise((resolve, reject) => {
    let run: ChatRun | null = null;
    const targets = fresh.length === 0 ? able.targets : fresh;
    const start = (target: ChatTarget, unitsMax: number, sink: ChatSink, { remainingMs }: CallAttempt): ChatRun =>
      sendChat({ request }, target, { unitsMax, choices: 1, allowsHour: false, traceparent: null, remainingMs }, sink);
    const stop = (): void => {
      run?.cancel();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop);
    const settle = (act: () => void): void => {
      signal.removeEventListener("abort", stop);
      act();
    };
    run = calls.route<ChatKinds>(
      {
        request: { operation: chatOperation, targets, callMs: findCallMs(targets), start, explain: explainChatFailure },
        unitsMax: outputTokensMax,
      },
      {
        onAccepted: () => {},
        onPieces: () => {},
        onEnd: () => {},
        onAnswer: ({ choices, usage }, target) =>
          settle(() => {
            if (usage !== null && question.payer !== null && isPlausible(usage)) {
              calls.noteCost(findChatCost(target, request, usage), question.payer);
            }
            const reply = readReply(choices);
            if (reply === null)
              reject(
                new AppError(
                  "content_policy_violation",
                  "The provider rejected this request because of its content. Change the prompt.",
                ),
              );
            else resolve({ ...reply, target });
          }),
        onFailedAttempt: (attempt, error) =>
          logger.warn({ model: model.id, ...presentAttempt(attempt), error }, "upstream failed"),
        onFailure: (error) => settle(() => reject(error)),
      },
    );
  });
}

/** `null` if the model refused. */
function readReply(choices: string): Omit<ChatReply, "target"> | null {
  const [choice] = JSON.parse(choices) as {
    message?: { content?: string | null; refusal?: string | null };
    finish_reason?: string | null;
  }[];
  const { content, refusal } = choice?.message ?? {};
  if (choice?.finish_reason === "content_filter" || (refusal ?? "") !== "") return null;
  return { text: content ?? "", isWhole: choice?.finish_reason !== "length" };
}
