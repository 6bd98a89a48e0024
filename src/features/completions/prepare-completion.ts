import { AppError } from "../../platform/errors/app-error.ts";
import type { CallPlan, IncomingCall } from "../calls/index.ts";
import type { Chat, ChatKinds } from "../chat/index.ts";
import type { CompletionBody } from "./completion-schema.ts";
import { CompletionPresenter } from "./present-completion.ts";
import { readCompletionRequest } from "./read-completion-request.ts";

/** Checks and prices a call before anything is sent. Throws if the request is invalid. */
export function prepareCompletion(
  chat: Pick<Chat, "plan">,
  { caller, body, bodyBytes, requestId }: IncomingCall,
): CallPlan<ChatKinds> {
  // The schema has validated it.
  const id = `cmpl-${requestId.slice("req_".length)}`;
  const asked = body as CompletionBody;
  const read = readCompletionRequest(asked, { id, model: asked.model });
  const { request } = read;
  const isStreamed = request.stream === true;
  const includesUsage = request.stream_options?.include_usage === true;
  try {
    const plan = chat.plan({
      ...{ caller, requestId, bodyBytes, ...read },
      createPresenter: ({ modelId: model, now, meter }) => {
        const envelope = { id, object: "text_completion", created: Math.floor(now.getTime() / 1000), model };
        return new CompletionPresenter(envelope, meter, { isStreamed, includesUsage });
      },
    });
    const { explain } = plan;
    plan.explain = (error) => translateError(explain(error));
    return plan;
  } catch (error) {
    throw error instanceof AppError ? translateError(error) : error;
  }
}

/** Replaces the fields of the chat request by those of the completion that the caller sent. */
function translateError(error: AppError): AppError {
  const { code, param, headers, detail, cause } = error;
  const place = param?.startsWith("messages") === true ? "prompt" : param === "top_logprobs" ? "logprobs" : param;
  const message = error.message.replaceAll(param ?? "messages", place ?? "prompt").replaceAll("messages", "prompt");
  const options = { headers, cause, ...(place === null ? {} : { param: place }) };
  return new AppError(code, message, detail === undefined ? options : { ...options, detail });
}
