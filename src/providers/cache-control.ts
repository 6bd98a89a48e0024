import type { CacheMark, ChatMessage, ChatRequest } from "./chat-request.ts";

/**
 * `cache_control` marks where a vendor may cache the prompt, in Anthropic's format. It is passed on in three places:
 * - chat to an AI SDK package: `forwardCacheControl` in `ai-sdk/convert-messages.ts`
 * - Messages to an upstream with that API: `forwardMessagesCacheControl` in `messages-cache-control.ts`
 * - chat to an OpenAI-compatible upstream: `buildUpstreamBody`, only if the route's `passthrough` names it
 *
 * This policy says how.
 */
export type CacheControlPolicy = {
  /** Add marks if the caller set none (`cache_marks: automatic`). */
  isAutomatic: boolean;
  /** Whether `ttl: 1h` is forwarded; otherwise the vendor's default of five minutes applies. */
  allowsHour: boolean;
};

export const defaultCacheControl: CacheControlPolicy = { isAutomatic: false, allowsHour: false };

type Mark = NonNullable<CacheMark["cache_control"]>;

export const automaticMark = { type: "ephemeral" } as const;
const turnsMarked = 2;

export function isHourMark(mark: Mark): boolean {
  return mark.ttl === "1h";
}

/** Whether any mark of a request matches. */
export function hasMark({ messages, tools = [] }: ChatRequest, isOfKind: (mark: Mark) => boolean): boolean {
  const isMarked = ({ cache_control: mark }: CacheMark): boolean => mark !== undefined && isOfKind(mark);
  return (
    tools.some(isMarked) ||
    messages.some(
      (message) =>
        isMarked(message as CacheMark) ||
        (Array.isArray(message.content) && message.content.some((part) => isMarked(part))),
    )
  );
}

/**
 * Adds the marks that Anthropic needs to cache anything, if the caller set none: on the last tool, the instructions and
 * the last two user turns. The first of these was the end of the previous prompt. Anthropic accepts at most four.
 */
export function addCacheControl(request: ChatRequest): ChatRequest {
  if (hasMark(request, () => true)) return request;
  const { messages, tools = [] } = request;
  const places = new Set(chooseMessages(messages));
  return {
    ...request,
    messages: messages.map((message, index) =>
      places.has(index) ? { ...message, cache_control: automaticMark } : message,
    ),
    ...(tools.length === 0 ? {} : { tools: markLast(tools) }),
  };
}

/** The messages to mark: the end of the instructions and of the last user turns. */
function chooseMessages(messages: readonly ChatMessage[]): number[] {
  const talk = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const instructions = talk === -1 ? messages.length - 1 : talk - 1;
  const turns = listUserTurns(messages.map(({ role }) => role));
  return [instructions, ...turns].filter((index) => {
    const message = messages[index];
    return message !== undefined && isMarkable(message);
  });
}

/** The last message of each of the last user turns. Tool results belong to the user's turn. */
export function listUserTurns(roles: readonly string[]): number[] {
  const isTheUsers = (role: string | undefined): boolean => role === "user" || role === "tool";
  const turns: number[] = [];
  for (let index = roles.length - 1; index >= 0 && turns.length < turnsMarked; index -= 1) {
    if (isTheUsers(roles[index]) && !isTheUsers(roles[index + 1])) turns.push(index);
  }
  return turns;
}

/** Vendors reject a mark on empty content. */
function isMarkable({ content }: Pick<ChatMessage, "content">): boolean {
  if (typeof content === "string") return content !== "";
  const last = content?.at(-1);
  return last !== undefined && !(last.type === "text" && last.text === "");
}

function markLast<T extends object>(items: readonly T[]): T[] {
  return items.map((item, index) => (index === items.length - 1 ? { ...item, cache_control: automaticMark } : item));
}
