export type AttachedImage = { name: string; url: string };
export type ToolCall = { id: string; name: string; argumentsText: string };

/** Token counts are present only if the response was complete. */
export type AnswerBill = { charge: string; inputTokens?: number; outputTokens?: number };

export type Question = { kind: "question"; id: string; text: string; images: AttachedImage[] };
export type ToolResult = { kind: "tool-result"; id: string; callId: string; name: string; text: string };
export type Answer = {
  kind: "answer";
  id: string;
  model: string;
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  state: "streaming" | "complete" | "stopped" | "broken";
  /** Why it is incomplete. */
  remark: string | null;
  bill: AnswerBill | null;
  firstTokenMs: number | null;
  totalMs: number | null;
};
export type Turn = Question | Answer | ToolResult;

/** About the largest context of any model, and near the limit of browser storage. */
export const turnsMax = 200;

type MessagePart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };
export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | MessagePart[] }
  | {
      role: "assistant";
      content: string | null;
      tool_calls?: { type: "function"; id: string; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

/** The conversation as API messages. Empty responses are left out. */
export function listMessages(system: string, turns: readonly Turn[]): ChatMessage[] {
  const head: ChatMessage[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  return [...head, ...turns.flatMap((turn) => toMessage(turn) ?? [])];
}

function toMessage(turn: Turn): ChatMessage | null {
  switch (turn.kind) {
    case "question":
      return { role: "user", content: turn.images.length === 0 ? turn.text : listParts(turn) };
    case "tool-result":
      return { role: "tool", tool_call_id: turn.callId, content: turn.text };
    case "answer": {
      if (turn.text === "" && turn.toolCalls.length === 0) return null;
      const calls = turn.toolCalls.map(({ id, name, argumentsText }) => ({
        type: "function" as const,
        id,
        function: { name, arguments: argumentsText },
      }));
      const content = turn.text === "" ? null : turn.text;
      return { role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    }
  }
}

function listParts({ text, images }: Question): MessagePart[] {
  const words: MessagePart[] = text === "" ? [] : [{ type: "text", text }];
  return [...words, ...images.map(({ url }) => ({ type: "image_url" as const, image_url: { url } }))];
}

/** The history up to the last prompt or tool result, for regenerating. */
export function dropLastAnswer(turns: readonly Turn[]): Turn[] {
  const last = turns.findLastIndex(({ kind }) => kind !== "answer");
  return turns.slice(0, last + 1);
}

/** Tool calls of the last response that wait for results. */
export function listOpenCalls(turns: readonly Turn[]): ToolCall[] {
  const last = turns.at(-1);
  return last?.kind === "answer" && last.state === "complete" ? last.toolCalls : [];
}

export function hasCome({ text, reasoning, toolCalls }: Pick<Answer, "text" | "reasoning" | "toolCalls">): boolean {
  return text !== "" || reasoning !== "" || toolCalls.length > 0;
}

/** Restores a conversation. A response that was streaming is marked as stopped. */
export function parseTurns(value: unknown): Turn[] {
  if (!Array.isArray(value)) return [];
  // Only this page writes it; older formats are discarded.
  const isCurrent = (turn: Turn) =>
    typeof turn.text === "string" && (turn.kind !== "question" || Array.isArray(turn.images));
  const turns = value.filter((turn) => kinds.has(turn?.kind) && isCurrent(turn)) as Turn[];
  return turns
    .filter((turn) => turn.kind !== "answer" || turn.state !== "streaming" || hasCome(turn))
    .slice(-turnsMax)
    .map((turn) =>
      turn.kind === "answer" && turn.state === "streaming"
        ? { ...turn, state: "stopped", remark: "You left the page before the response was complete." }
        : turn,
    );
}

const kinds = new Set<unknown>(["question", "answer", "tool-result"] satisfies Turn["kind"][]);
