import { isUnread } from "../../lib/unread-json.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { CallEnd, CallPlan, IncomingCall } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { type Conversation, type PreparedResponse, prepareResponse } from "./prepare-response.ts";
import { listOwnItems, readConversationId } from "./read-response-request.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import type { ResponseRequest } from "./response-request.ts";
import { isSavable, type SavedRequest, saveResponse } from "./save-response.ts";

/** One requested response: its conversation, and whether to store it. */
export class RequestedResponse {
  private readonly dependencies: ResponseDependencies;
  private readonly conversation: Conversation;
  /** Set if an earlier run created the response. */
  private readonly createdAt: Date | undefined;
  private prepared: PreparedResponse | null = null;
  private saved: SavedRequest | null = null;

  constructor(dependencies: ResponseDependencies, conversation: Conversation, createdAt?: Date) {
    this.dependencies = dependencies;
    this.conversation = conversation;
    this.createdAt = createdAt;
  }

  prepare(incoming: IncomingCall): CallPlan<ChatKinds> {
    return this.prepareAll(incoming).plan;
  }

  /** A background response must be stored, or its result would be lost. */
  prepareSaved(incoming: IncomingCall): PreparedResponse & { saved: SavedRequest } {
    const prepared = this.prepareAll(incoming);
    if (this.saved?.isStored === true) return { ...prepared, saved: this.saved };
    throw new AppError(
      "invalid_parameter",
      "`background` requires a stored response. Leave `store` out, and send a request of at most 4 MiB.",
      {
        param: "background",
      },
    );
  }

  private prepareAll(incoming: IncomingCall): PreparedResponse {
    const { conversation, dependencies } = this;
    const { caller, requestId, bodyBytes } = incoming;
    const request = incoming.body as ResponseRequest;
    const isStored = isSavable(dependencies, { request, bytes: bodyBytes });
    const conversationId = readConversationId(request);
    this.prepared = prepareResponse(dependencies, incoming, {
      ...{ conversation, isStored, conversationId, createdAt: this.createdAt },
    });
    if (isStored || conversationId !== null) {
      this.saved = { caller, requestId, request, items: conversation.own, isStored, conversationId };
    }
    return this.prepared;
  }

  async conclude(end: CallEnd<ChatKinds>): Promise<void> {
    const { prepared, saved, dependencies } = this;
    if (prepared !== null && saved !== null) await saveResponse(dependencies, saved, { ...prepared, end });
  }
}

/** The conversation of a request that contains all of it. */
export function openConversation(request: ResponseRequest): Conversation {
  // Its items are read only if they are needed.
  if (isUnread(request, "input")) return { items: [], own: [], bytesBefore: 0 };
  const own = listOwnItems(request);
  return { items: own, own, bytesBefore: 0 };
}
