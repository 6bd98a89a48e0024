import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { NativeRequest } from "../../providers/contract.ts";
import type { CallPlan, CallPresenter, IncomingCall } from "../calls/index.ts";
import { type Chat, type ChatKinds, checkFetchedUrls, translateError } from "../chat/index.ts";
import { ResponsePresenter } from "./present-response.ts";
import { findNativePlace, readResponseRequest, responseFieldNames, writeNativeBody } from "./read-response-request.ts";
import { nameResponse, ResponseEnvelope, readSuffix } from "./response-envelope.ts";
import type { PlacedItem, ResponseRequest } from "./response-request.ts";
import { listNamespacedTools } from "./tool-namespaces.ts";
import { type PlacedEntry, searchesTools } from "./tool-search.ts";

/** The conversation that a request continues. */
export type Conversation = {
  items: readonly PlacedItem[];
  /** The items of the request itself. */
  own: readonly PlacedItem[];
  /** The bytes of the items that are not in the request. */
  bytesBefore: number;
};

/** The conversation of a response, and how it is stored. */
type ResponseSetting = {
  conversation: Conversation;
  isStored: boolean;
  conversationId: string | null;
  /** Defaults to now. */
  createdAt?: Date | undefined;
  /** Writes the answer in another form. */
  wrap?(presenter: ResponsePresenter): CallPresenter<ChatKinds>;
};

/** About the size of a long document. */
const bytesPerReference = 200_000;

export type PreparedResponse = { plan: CallPlan<ChatKinds>; presenter: ResponsePresenter };

/** Validates a request and plans the call, without side effects. Throws if the request is invalid. */
export function prepareResponse(
  { chat, clock }: { chat: Pick<Chat, "plan">; clock: Clock },
  { caller, body, bodyBytes, requestId, session = null }: IncomingCall,
  { conversation, isStored, conversationId, createdAt, wrap }: ResponseSetting,
): PreparedResponse {
  // Validated by the schema.
  const request = body as ResponseRequest;
  const read = readResponseRequest(request, conversation.items);
  const { chat: chatRequest, places, entries, obstacle, references } = read;
  const asked = { requestId, isStored, conversationId };
  const nativeBody = writeNativeBody(request, conversation.items);
  checkNativeUrls(nativeBody, conversation.items);
  let presenter: ResponsePresenter | null = null;
  try {
    const plan = chat.plan({
      ...{ caller, requestId, session, request: chatRequest, fieldNames: responseFieldNames },
      bodyBytes: bodyBytes + conversation.bytesBefore + references * bytesPerReference,
      native: {
        wire: "responses",
        body: nativeBody,
        headers: {},
        obstacle,
        envelope: { id: nameResponse(requestId), model: request.model },
      },
      createPresenter: ({ modelId: model, now }) => {
        const envelope = new ResponseEnvelope(request, { requestId, model, now: createdAt ?? now });
        presenter = createPresenter(request, { ...asked, entries, envelope, now: () => clock.now() });
        return wrap?.(presenter) ?? presenter;
      },
    });
    const { explain } = plan;
    plan.explain = (error) => translateError(explain(error), places);
    return { plan, presenter: presenter as unknown as ResponsePresenter };
  } catch (error) {
    throw error instanceof AppError ? translateError(error, places) : error;
  }
}

function checkNativeUrls(body: NativeRequest["body"], items: readonly PlacedItem[]): void {
  try {
    checkFetchedUrls({ wire: "responses", body });
  } catch (error) {
    if (!(error instanceof AppError) || error.param === null) throw error;
    throw new AppError(error.code, error.message, { param: findNativePlace(error.param, items), cause: error });
  }
}

type PresentedRequest = Pick<ResponseSetting, "isStored" | "conversationId"> & {
  requestId: string;
  entries: readonly PlacedEntry[];
  envelope: ResponseEnvelope;
  now(): Date;
};

function createPresenter(
  request: ResponseRequest,
  { requestId, entries, isStored, conversationId, envelope, now }: PresentedRequest,
): ResponsePresenter {
  const { reasoning, include, background, previous_response_id: previousId } = request;
  return new ResponsePresenter({
    ...{ envelope, isStored, conversationId, now, isStreamed: request.stream === true },
    own: { background: background ?? false, previous_response_id: previousId ?? null },
    output: {
      suffix: readSuffix(requestId),
      summarizes: (reasoning?.summary ?? reasoning?.generate_summary ?? null) !== null,
      marksReasoning: include?.includes("reasoning.encrypted_content") === true,
      namespacedTools: listNamespacedTools(entries),
      searchesTools: searchesTools(request),
    },
  });
}
