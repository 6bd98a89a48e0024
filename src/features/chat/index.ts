/**
 * Chat: OpenAI's Chat Completions, served by whichever upstream can, and charged exactly.
 *
 * Promises: nothing is answered before it is paid for, and no answer ends before its charge is durable. A call is charged
 * for what was delivered, by the price that held when it began, and never twice. Another upstream is tried until the
 * first data, never after it. A caller who hangs up stops the upstream, unless the call has an `Idempotency-Key`: then it
 * is finished, and answered to whoever sends it again. Nothing that a caller sees names an upstream.
 */
export type { ChatQuestion } from "./ask-chat.ts";
export { type Chat, createChat } from "./create-chat.ts";
