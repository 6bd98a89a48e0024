import type { ChatAnswer, ChatPiece, ChatUsage } from "../../providers/contract.ts";
import type { ChatTarget } from "./chat-target.ts";
import type { ChargedUsage } from "./quote-chat.ts";

/** The types of a paid call that is chat. */
export type ChatKinds = {
  target: ChatTarget;
  delta: ChatPiece;
  answer: ChatAnswer;
  reported: ChatUsage;
  usage: ChargedUsage;
};
