import { writePost, writePrompt } from "./chat-requests.ts";

export const wires = ["chat", "messages", "responses"] as const;
export type Wire = (typeof wires)[number];

/** The same work in each wire format: a question, or an agent's request with its tools and all earlier turns. */
export type WireAsk = {
  isStream: boolean;
  promptBytes: number;
  agent?: { tools: number; turns: number; bytes: number };
};

const paths: Record<Wire, string> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};
const outputTokensMax = 4096;
const instructions = "You are a helpful assistant.";

type Tool = { name: string; description: string; schema: object };
/** The user asks, the model calls a tool, the tool answers. */
type Turn = { question: string; callId: string; tool: string; result: string };

export function writeWireRequest(
  wire: Wire,
  ask: WireAsk,
  target: { port: number; model: string; headers: Record<string, string> },
): Buffer {
  const said = { prompt: writePrompt(ask.promptBytes), ...planAgent(ask) };
  const body = { model: target.model, ...bodies[wire](said), ...(ask.isStream ? { stream: true } : {}) };
  return writePost(paths[wire], JSON.stringify(body), target);
}

type Said = { prompt: string; tools: readonly Tool[]; turns: readonly Turn[] };

function planAgent({ agent }: WireAsk): Omit<Said, "prompt"> {
  if (agent === undefined) return { tools: [], turns: [] };
  const half = Math.floor(agent.bytes / 2);
  const tools = Array.from({ length: agent.tools }, (_, at) => ({
    name: `tool_${at}`,
    description: writePrompt(Math.max(Math.floor(half / agent.tools) - 120, 1)),
    schema: { type: "object", properties: { path: { type: "string" } } },
  }));
  const turns = Array.from({ length: agent.turns }, (_, at) => ({
    question: `Question ${at}`,
    callId: `call_${at}`,
    tool: `tool_${at % agent.tools}`,
    result: writePrompt(Math.max(Math.floor(half / agent.turns) - 220, 1)),
  }));
  return { tools, turns };
}

const input = { path: "/tmp/x" };

const bodies: Record<Wire, (said: Said) => object> = {
  chat: ({ prompt, tools, turns }) => ({
    messages: [
      { role: "system", content: instructions },
      ...turns.flatMap(({ question, callId, tool, result }) => [
        { role: "user", content: question },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: callId, type: "function", function: { name: tool, arguments: JSON.stringify(input) } }],
        },
        { role: "tool", tool_call_id: callId, content: result },
      ]),
      { role: "user", content: prompt },
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map(writeChatTool) }),
    max_tokens: outputTokensMax,
  }),
  messages: ({ prompt, tools, turns }) => ({
    system: instructions,
    messages: [
      ...turns.flatMap(({ question, callId, tool }, at) => [
        { role: "user", content: [...listResult(turns[at - 1]), { type: "text", text: question }] },
        { role: "assistant", content: [{ type: "tool_use", id: callId, name: tool, input }] },
      ]),
      { role: "user", content: [...listResult(turns.at(-1)), { type: "text", text: prompt }] },
    ],
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })) }),
    max_tokens: outputTokensMax,
  }),
  responses: ({ prompt, tools, turns }) => ({
    instructions,
    input: [
      ...turns.flatMap(({ question, callId, tool, result }) => [
        { role: "user", content: question },
        { type: "function_call", call_id: callId, name: tool, arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: callId, output: result },
      ]),
      { role: "user", content: prompt },
    ],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({
            ...{ type: "function", name, description, parameters: schema, strict: false },
          })),
        }),
    max_output_tokens: outputTokensMax,
    store: false,
  }),
};

function writeChatTool({ name, description, schema }: Tool) {
  return { type: "function", function: { name, description, parameters: schema } };
}

function listResult(turn: Turn | undefined): object[] {
  return turn === undefined ? [] : [{ type: "tool_result", tool_use_id: turn.callId, content: turn.result }];
}
