import type { ChatAnswer, ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { ChatTarget } from "./chat-target.ts";
import type { ChargedUsage } from "./quote-chat.ts";

/** What a paid call speaks of where it is chat. */
export type ChatKinds = {
  target: ChatTarget;
  delta: ChatPiece;
  answer: ChatAnswer;
  reported: ChatUsage;
  usage: ChargedUsage;
};
