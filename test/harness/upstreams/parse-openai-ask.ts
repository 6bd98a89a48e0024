import type { Ask, OfferedTool } from "./answer-plan.ts";
import {
  demand,
  demandBase64,
  demandKnownFields,
  demandList,
  demandRange,
  demandRecord,
  demandText,
  isRecord,
  toolNamePattern,
} from "./vendor-refusal.ts";
import { countInputTokens } from "./vendor-wire.ts";

const knownFields = [
  ..."audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens".split(" "),
  ..."messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty".split(" "),
  ..."prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format".split(" "),
  ..."safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools".split(" "),
  ..."top_logprobs top_p user verbosity web_search_options".split(" "),
];

const messageFields = ["role", "content", "name", "refusal", "tool_calls", "tool_call_id", "function_call", "audio"];
const partFields = ["type", "text", "refusal", "image_url", "input_audio", "file", "prompt_cache_breakpoint"];

const outputTokensDefault = 4096;

/** Validates like OpenAI. `extraFields` are those that a compatible API also accepts. */
export function parseOpenAiAsk(value: unknown, extraFields: readonly string[]): Ask {
  const body = demandRecord(value, "body");
  demandKnownFields(body, [...knownFields, ...extraFields]);
  const messages = demandList(body.messages, "messages").map((message, at) => demandRecord(message, `messages[${at}]`));
  demand(messages.length > 0, "messages", "Invalid 'messages': empty array.");
  for (const [at, message] of messages.entries()) {
    demandKnownFields(message, [...messageFields, ...extraFields], `messages[${at}].`);
    checkMessage(message, `messages[${at}]`, extraFields);
  }
  checkToolTurns(messages);
  checkNumbers(body);
  const tools = parseTools(body, extraFields);
  const last = messages.at(-1);
  const isStreamed = body.stream === true;
  const streamOptions = isRecord(body.stream_options) ? body.stream_options : {};
  demand(isStreamed || !isRecord(body.stream_options), "stream_options", "Only allowed when 'stream' is enabled.");
  return {
    model: demandText(body.model, "model"),
    isStreamed,
    prompt: readText(messages.findLast(({ role }) => role === "user")?.content),
    toolResult: last?.role === "tool" ? readText(last.content) : null,
    inputTokens: countInputTokens(messages, body.tools),
    outputTokensMax: Number(body.max_completion_tokens ?? body.max_tokens ?? outputTokensDefault),
    choiceCount: Number(body.n ?? 1),
    stopSequences: [body.stop ?? []].flat().map(String),
    tools,
    toolChoice: parseToolChoice(body, tools),
    isParallel: body.parallel_tool_calls !== false,
    wantsThinking: typeof body.reasoning_effort === "string" && body.reasoning_effort !== "none",
    jsonSchema: parseJsonSchema(body.response_format),
    logprobCount: body.logprobs === true ? Number(body.top_logprobs ?? 0) : null,
    wantsStreamUsage: streamOptions.include_usage === true,
  };
}

function checkMessage(message: Record<string, unknown>, at: string, extraFields: readonly string[]): void {
  const { role, content } = message;
  const isRole = ["system", "developer", "user", "assistant", "tool", "function"].includes(String(role));
  demand(isRole, `${at}.role`, `Invalid value: '${role}'.`);
  if (role === "tool") demandText(message.tool_call_id, `${at}.tool_call_id`);
  const needsContent =
    role !== "function" && (role !== "assistant" || !["tool_calls", "refusal"].some((field) => field in message));
  if (!needsContent && (content === undefined || content === null)) return;
  if (typeof content === "string") return;
  const parts = demandList(content, `${at}.content`);
  demand(parts.length > 0, `${at}.content`, `Invalid '${at}.content': empty array.`);
  for (const [position, part] of parts.entries()) {
    const place = `${at}.content[${position}]`;
    const fields = demandRecord(part, place);
    demandKnownFields(fields, [...partFields, ...extraFields], `${place}.`);
    checkPart(fields, { role: String(role), at: place });
  }
}

function checkPart(part: Record<string, unknown>, { role, at }: { role: string; at: string }): void {
  const kind = String(part.type);
  if (kind === "text" || (kind === "refusal" && role === "assistant")) {
    demand(typeof part[kind] === "string", `${at}.${kind}`, `Missing required parameter: '${at}.${kind}'.`);
  } else {
    const check = role === "user" ? mediaChecks[kind] : undefined;
    demand(check !== undefined, `${at}.type`, `Invalid value: '${kind}'.`);
    check(demandRecord(part[kind], `${at}.${kind}`), `${at}.${kind}`);
  }
}

const mediaChecks: Record<string, (content: Record<string, unknown>, at: string) => void> = {
  image_url: ({ url }, at) => checkImageUrl(demandText(url, `${at}.url`), `${at}.url`),
  input_audio({ format, data }, at) {
    demand(format === "wav" || format === "mp3", `${at}.format`, "Invalid value.");
    demandBase64(data, `${at}.data`);
  },
  file: (content, at) => demand((content.file_id ?? content.file_data) !== undefined, at, "Missing file."),
};

function checkImageUrl(url: string, at: string): void {
  const [, data] = url.match(/^data:image\/[a-z+.-]+;base64,(.*)$/s) ?? [];
  if (data === undefined) demand(/^https?:\/\/[^/]/.test(url), at, "Expected a valid URL or a base64 data URL.");
  else demandBase64(data, at);
}

/** Every tool call must be answered in the next messages, and only calls can be. */
function checkToolTurns(messages: readonly Record<string, unknown>[]): void {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = String(message.tool_call_id);
      const text = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      demand(open.delete(id), `messages[${at}].role`, text);
      continue;
    }
    const text = `An assistant message with 'tool_calls' must be followed by tool messages: ${[...open].join()}`;
    demand(open.size === 0, `messages[${at}].role`, text);
    if (message.role !== "assistant" || message.tool_calls === undefined) continue;
    open = new Set(
      demandList(message.tool_calls, `messages[${at}].tool_calls`).map((call, position) => {
        return checkToolCall(demandRecord(call, `messages[${at}].tool_calls[${position}]`), at);
      }),
    );
    demand(open.size > 0, `messages[${at}].tool_calls`, "Invalid: empty array.");
  }
  demand(open.size === 0, "messages", "An assistant message with 'tool_calls' must be followed by tool messages.");
}

function checkToolCall(call: Record<string, unknown>, at: number): string {
  const kind = call.type === "custom" ? "custom" : "function";
  demand(call.type === kind, `messages[${at}].tool_calls`, "Invalid type of a tool call.");
  const content = demandRecord(call[kind], `messages[${at}].tool_calls`);
  demandText(content.name, `messages[${at}].tool_calls`);
  const input = kind === "custom" ? content.input : content.arguments;
  demand(typeof input === "string", `messages[${at}].tool_calls`, "The arguments of a tool call are a string.");
  return demandText(call.id, `messages[${at}].tool_calls`);
}

function checkNumbers(body: Record<string, unknown>): void {
  const hasBoth = (body.max_tokens ?? null) !== null && (body.max_completion_tokens ?? null) !== null;
  demand(!hasBoth, "max_tokens", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
  demandRange(body.max_tokens, "max_tokens", [1, 1e9]);
  demandRange(body.max_completion_tokens, "max_completion_tokens", [1, 1e9]);
  demandRange(body.n, "n", [1, 128]);
  demandRange(body.temperature, "temperature", [0, 2]);
  demandRange(body.top_p, "top_p", [0, 1]);
  demandRange(body.frequency_penalty, "frequency_penalty", [-2, 2]);
  demandRange(body.presence_penalty, "presence_penalty", [-2, 2]);
  demandRange(body.top_logprobs, "top_logprobs", [0, 20]);
  const hasTop = (body.top_logprobs ?? null) !== null;
  demand(!hasTop || body.logprobs === true, "top_logprobs", "'logprobs' must be true when 'top_logprobs' is used.");
  demand([body.stop ?? []].flat().length <= 4, "stop", "Expected at most 4 stop sequences.");
}

function parseTools(body: Record<string, unknown>, extraFields: readonly string[]): OfferedTool[] {
  if (body.tools === undefined) {
    demand(body.tool_choice === undefined, "tool_choice", "'tool_choice' is only allowed when 'tools' are specified.");
    demand(body.parallel_tool_calls === undefined, "parallel_tool_calls", "Only allowed when 'tools' are specified.");
    return [];
  }
  const tools = demandList(body.tools, "tools");
  demand(tools.length > 0, "tools", "Invalid 'tools': empty array.");
  return tools.map((value, position) => {
    const tool = demandRecord(value, `tools[${position}]`);
    demandKnownFields(tool, ["type", "function", "custom", ...extraFields], `tools[${position}].`);
    const kind = tool.type === "custom" ? "custom" : "function";
    const definition = demandRecord(tool[kind], `tools[${position}].${kind}`);
    const name = demandText(definition.name, `tools[${position}].${kind}.name`);
    demand(toolNamePattern.test(name), `tools[${position}].${kind}.name`, "Invalid name of a tool.");
    return { name, schema: definition.parameters ?? {}, isCustom: kind === "custom" };
  });
}

function parseToolChoice(body: Record<string, unknown>, tools: readonly OfferedTool[]): Ask["toolChoice"] {
  const choice = body.tool_choice ?? "auto";
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const record = demandRecord(choice, "tool_choice");
  if (isRecord(record.allowed_tools)) return record.allowed_tools.mode === "required" ? "required" : "auto";
  const { name } = demandRecord(record[String(record.type)], "tool_choice");
  const chosen = demandText(name, "tool_choice");
  demand(
    tools.some((tool) => tool.name === chosen),
    "tool_choice",
    `Tool choice '${chosen}' not found in 'tools'.`,
  );
  return { name: chosen };
}

function parseJsonSchema(format: unknown): Record<string, unknown> | null {
  if (!isRecord(format) || format.type === "text") return null;
  if (format.type === "json_object") return { type: "object", properties: { echo: { type: "string" } } };
  demand(format.type === "json_schema", "response_format.type", "Invalid value.");
  const { name, schema } = demandRecord(format.json_schema, "response_format.json_schema");
  demandText(name, "response_format.json_schema.name");
  return demandRecord(schema ?? {}, "response_format.json_schema.schema");
}

function readText(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
