import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { CallEnd, CallPlan, IncomingCall } from "../calls/index.ts";
import type { Chat, ChatKinds } from "../chat/index.ts";
import type { ItemLimits } from "./item-reader.ts";
import { isKept, type KeepDependencies, type KeptRequest, keepResponse } from "./keep-response.ts";
import { type Conversation, type PreparedResponse, prepareResponse } from "./prepare-response.ts";
import { listOwnItems, readConversationId } from "./read-response-request.ts";
import type { ResponseRequest } from "./response-request.ts";
import type { TextQuota } from "./text-quota.ts";

export type CreateDependencies = KeepDependencies & {
  chat: Pick<Chat, "plan">;
  clock: Clock;
  quota: TextQuota;
  itemLimits: ItemLimits;
};

/** One response that is asked for: what it goes on with, and whether it is going to be kept. */
export class RequestedResponse {
  private readonly dependencies: CreateDependencies;
  private readonly conversation: Conversation;
  private prepared: PreparedResponse | null = null;
  private kept: KeptRequest | null = null;

  constructor(dependencies: CreateDependencies, conversation: Conversation) {
    this.dependencies = dependencies;
    this.conversation = conversation;
  }

  prepare(incoming: IncomingCall): CallPlan<ChatKinds> {
    return this.prepareAll(incoming).plan;
  }

  /** Where nobody waits for a response, it has to be kept to be of use. */
  prepareKept(incoming: IncomingCall): PreparedResponse & { kept: KeptRequest } {
    const prepared = this.prepareAll(incoming);
    if (this.kept?.isStored === true) return { ...prepared, kept: this.kept };
    throw new AppError("invalid_parameter", "`background` needs a response that is stored, and not too large for it.", {
      param: "background",
    });
  }

  private prepareAll(incoming: IncomingCall): PreparedResponse {
    const { conversation, dependencies } = this;
    const { caller, requestId, bodyBytes } = incoming;
    const request = incoming.body as ResponseRequest;
    const isStored = isKept(dependencies, { request, bytes: bodyBytes });
    const conversationId = readConversationId(request);
    this.prepared = prepareResponse(dependencies, incoming, { conversation, isStored, conversationId });
    if (isStored || conversationId !== null) {
      this.kept = { caller, requestId, request, items: conversation.own, isStored, conversationId };
    }
    return this.prepared;
  }

  async conclude(end: CallEnd<ChatKinds>): Promise<void> {
    const { prepared, kept, dependencies } = this;
    if (prepared !== null && kept !== null) await keepResponse(dependencies, kept, { ...prepared, end });
  }
}

/** What a request goes on with that has all of its conversation in itself. */
export function openConversation(request: ResponseRequest): Conversation {
  const own = listOwnItems(request);
  return { items: own, own, bytesBefore: 0 };
}
