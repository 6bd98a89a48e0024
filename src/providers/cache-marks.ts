import type { CacheMark, ChatMessage, ChatRequest } from "./chat-request.ts";

/** How marks of where a prompt may be cached are sent to an upstream that knows them. */
export type CacheMarking = {
  /** Where the caller set no marks, they are set here. */
  isAutomatic: boolean;
  /** Whether a mark may ask for an hour; else it asks for minutes, whatever the caller wrote. */
  keepsHour: boolean;
};

export const plainMarking: CacheMarking = { isAutomatic: false, keepsHour: false };

type Mark = NonNullable<CacheMark["cache_control"]>;

export const automaticMark = { type: "ephemeral" } as const;
const turnsMarked = 2;

/** Whether a mark asks for a cache that keeps the prompt for an hour. */
export function isHourMark(mark: Mark): boolean {
  return mark.ttl === "1h";
}

/** Whether any mark of a request is of this kind. */
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
 * Marks a request whose caller marked nothing, as its upstream needs it to cache anything: the last tool, the
 * instructions, and the last two turns of the user's, of which the first was the end of the prompt before. A vendor takes
 * no more than these four.
 */
export function markRequest(request: ChatRequest): ChatRequest {
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

/** Where among the messages: the end of the instructions, and of each turn that is marked. */
function chooseMessages(messages: readonly ChatMessage[]): number[] {
  const talk = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const instructions = talk === -1 ? messages.length - 1 : talk - 1;
  const turns = listUserTurns(messages.map(({ role }) => role));
  return [instructions, ...turns].filter((index) => {
    const message = messages[index];
    return message !== undefined && isMarkable(message);
  });
}

/** The last message of each of the user's last turns. What a tool answered is the user's, and what comes together is one turn. */
export function listUserTurns(roles: readonly string[]): number[] {
  const isTheUsers = (role: string | undefined): boolean => role === "user" || role === "tool";
  const turns: number[] = [];
  for (let index = roles.length - 1; index >= 0 && turns.length < turnsMarked; index -= 1) {
    if (isTheUsers(roles[index]) && !isTheUsers(roles[index + 1])) turns.push(index);
  }
  return turns;
}

/** Vendors refuse a mark on nothing. */
function isMarkable({ content }: Pick<ChatMessage, "content">): boolean {
  if (typeof content === "string") return content !== "";
  const last = content?.at(-1);
  return last !== undefined && !(last.type === "text" && last.text === "");
}

function markLast<T extends object>(items: readonly T[]): T[] {
  return items.map((item, index) => (index === items.length - 1 ? { ...item, cache_control: automaticMark } : item));
}
