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
  ..."cache_control container context_management inference_geo max_tokens mcp_servers messages metadata model".split(
    " ",
  ),
  ..."output_config service_tier speed stop_sequences stream system temperature thinking tool_choice tools".split(" "),
  ..."top_k top_p user_profile_id".split(" "),
];

/** Sent with every thought, and must be sent back with it. */
export const thoughtSignature = "c2lnbmVkLWJ5LXRoZS1tb2RlbA==";

const thinkingBudgetMin = 1024;
const pictureTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const documentTypes = ["application/pdf", "text/plain"];

/** Validates like Anthropic. */
export function parseAnthropicAsk(value: unknown): Ask {
  const body = demandRecord(value, "body");
  demandKnownFields(body, knownFields);
  const messages = demandList(body.messages, "messages").map((message, at) => demandRecord(message, `messages.${at}`));
  const turns = checkTurns(messages);
  checkToolTurns(turns);
  checkNumbers(body);
  checkSystem(body.system);
  const wantsThinking = parseThinking(body);
  const tools = parseTools(body);
  const lastTurn = turns.at(-1) ?? { blocks: [] };
  const toolResults = lastTurn.blocks.filter(({ type }) => type === "tool_result");
  const choice = isRecord(body.tool_choice) ? body.tool_choice : {};
  return {
    model: demandText(body.model, "model"),
    isStreamed: body.stream === true,
    prompt: readText(turns.findLast(({ role, blocks }) => role === "user" && readText(blocks) !== "")?.blocks),
    toolResult: toolResults.length === 0 ? null : toolResults.map(({ content }) => readText(content)).join(" "),
    inputTokens: countInputTokens(body.system, messages, body.tools),
    outputTokensMax: Number(body.max_tokens),
    choiceCount: 1,
    stopSequences: demandList(body.stop_sequences ?? [], "stop_sequences").map(String),
    tools,
    toolChoice: parseToolChoice(choice, { tools, wantsThinking, ownTools: listOwnTools(body) }),
    isParallel: choice.disable_parallel_tool_use !== true,
    wantsThinking,
    jsonSchema: parseJsonSchema(body.output_config),
    logprobCount: null,
    wantsStreamUsage: true,
  };
}

type Turn = { role: unknown; at: string; blocks: readonly Record<string, unknown>[] };

/** User and assistant alternate, and a user begins. */
function checkTurns(messages: readonly Record<string, unknown>[]): Turn[] {
  const turns = messages.map(({ role, content }, position) => {
    const at = `messages.${position}`;
    demand(
      role === (position % 2 === 0 ? "user" : "assistant"),
      at,
      `${at}: roles must alternate, beginning with "user"`,
    );
    const blocks =
      typeof content === "string" ? [{ type: "text", text: content }] : demandList(content, `${at}.content`);
    demand(blocks.length > 0, at, `${at}: all messages must have non-empty content`);
    return { role, at, blocks: blocks.map((block, index) => demandRecord(block, `${at}.content.${index}`)) };
  });
  demand(turns.length > 0, "messages", "messages: at least one message is required");
  for (const { role, at, blocks } of turns) for (const block of blocks) checkBlock(block, { role: String(role), at });
  const last = turns.at(-1);
  const end = last?.role === "assistant" ? last.blocks.at(-1)?.text : "";
  demand(
    !/\s$/.test(String(end ?? "")),
    "messages",
    "messages: final assistant content cannot end with trailing whitespace",
  );
  return turns;
}

const blocksOfRoles: Record<string, readonly string[]> = {
  user: ["text", "image", "document", "search_result", "tool_result"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use"],
};

function checkBlock(block: Record<string, unknown>, { role, at }: { role: string; at: string }): void {
  const kind = String(block.type);
  const isPermitted = blocksOfRoles[role]?.includes(kind) === true;
  demand(isPermitted, at, `${at}: block type '${kind}' is not permitted for role ${role}`);
  blockChecks[kind]?.(block, at);
}

const blockChecks: Record<string, (block: Record<string, unknown>, at: string) => void> = {
  text({ text }, at) {
    demand(typeof text === "string" && text !== "", at, `${at}: text content blocks must be non-empty`);
  },
  image: ({ source }, at) => checkSource(demandRecord(source, at), { types: pictureTypes, at }),
  document: ({ source }, at) => checkSource(demandRecord(source, at), { types: documentTypes, at }),
  thinking({ signature }, at) {
    demand(signature === thoughtSignature, at, `${at}: Invalid 'signature' in 'thinking' block`);
  },
  tool_use({ id, name, input }, at) {
    demand(toolNamePattern.test(String(id)), at, `${at}.id: String should match pattern`);
    demandText(name, `${at}.name`);
    demandRecord(input, `${at}.input`);
  },
  tool_result({ content }, at) {
    if (typeof content === "string" || content === undefined) return;
    for (const inner of demandList(content, `${at}.content`)) {
      checkBlock(demandRecord(inner, `${at}.content`), { role: "user", at: `${at}.content` });
    }
  },
};

function checkSource(source: Record<string, unknown>, { types, at }: { types: readonly string[]; at: string }): void {
  if (source.type === "url") {
    demand(/^https?:\/\/[^/]/.test(String(source.url)), at, `${at}.source: expected a URL`);
  } else {
    demand(types.includes(String(source.media_type)), at, `${at}.source.media_type: not permitted`);
    if (source.type === "text") demandText(source.data, `${at}.source.data`);
    else demandBase64(source.type === "base64" ? source.data : null, `${at}.source.data`);
  }
}

/** The results of all tools that a turn calls come first in the next one. */
function checkToolTurns(turns: readonly Turn[]): void {
  let open = new Set<unknown>();
  for (const { role, at, blocks } of turns) {
    if (role === "user") {
      const count = blocks.findLastIndex(({ type }) => type === "tool_result") + 1;
      for (const { type, tool_use_id } of blocks.slice(0, count)) {
        demand(type === "tool_result", at, `${at}: 'tool_result' blocks must come first`);
        demand(
          open.delete(tool_use_id),
          at,
          `${at}: unexpected 'tool_use_id' found in 'tool_result' blocks: ${tool_use_id}`,
        );
      }
      demand(open.size === 0, at, `${at}: 'tool_use' ids were found without 'tool_result' blocks: ${[...open].join()}`);
    } else {
      const ids = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
      open = new Set(ids);
      demand(open.size === ids.length, at, `${at}: 'tool_use' ids must be unique`);
    }
  }
  demand(open.size === 0, "messages", "messages: 'tool_use' ids were found without 'tool_result' blocks");
}

function checkNumbers(body: Record<string, unknown>): void {
  demand(Number.isInteger(body.max_tokens), "max_tokens", "max_tokens: Field required");
  demandRange(body.max_tokens, "max_tokens", [1, 1e9]);
  demandRange(body.temperature, "temperature", [0, 1]);
  demandRange(body.top_p, "top_p", [0, 1]);
  demandRange(body.top_k, "top_k", [0, 1e9]);
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === "string") return;
  for (const value of demandList(system, "system")) {
    const block = demandRecord(value, "system");
    demand(block.type === "text", "system", "system: only text blocks are permitted");
    demandText(block.text, "system");
  }
}

function parseThinking(body: Record<string, unknown>): boolean {
  if (body.thinking === undefined) return false;
  const { type, budget_tokens: budget } = demandRecord(body.thinking, "thinking");
  demand(["enabled", "adaptive", "disabled"].includes(String(type)), "thinking", "thinking.type: unexpected value");
  if (type === "disabled") return false;
  demand(
    [undefined, 1].some((value) => value === body.temperature),
    "temperature",
    "temperature: may only be 1 with thinking",
  );
  if (type === "adaptive") return true;
  const isEnough = typeof budget === "number" && budget >= thinkingBudgetMin;
  demand(isEnough, "thinking", `thinking.budget_tokens: at least ${thinkingBudgetMin} is required`);
  demand(budget < Number(body.max_tokens), "max_tokens", "max_tokens: must be greater than thinking.budget_tokens");
  return true;
}

function parseTools(body: Record<string, unknown>): OfferedTool[] {
  const tools = demandList(body.tools ?? [], "tools");
  demand(
    body.tool_choice === undefined || tools.length > 0,
    "tool_choice",
    "tool_choice: may only be given with tools",
  );
  return tools.flatMap((value, position) => {
    const tool = demandRecord(value, `tools.${position}`);
    // The schemas of the vendor's own tools are on its side.
    if (![undefined, "custom"].includes(tool.type as string)) return [];
    const name = demandText(tool.name, `tools.${position}.name`);
    demand(toolNamePattern.test(name), `tools.${position}.name`, `tools.${position}.name: should match a pattern`);
    const schema = demandRecord(tool.input_schema, `tools.${position}.input_schema`);
    demand(schema.type === "object", `tools.${position}.input_schema`, "input_schema.type: should be 'object'");
    return { name, schema, isCustom: false };
  });
}

/** The names of the vendor's own tools. */
function listOwnTools({ tools }: Record<string, unknown>): unknown[] {
  const own = demandList(tools ?? [], "tools").filter(isRecord);
  return own.filter(({ type }) => type !== undefined && type !== "custom").map(({ name }) => name);
}

type Offer = { tools: readonly OfferedTool[]; wantsThinking: boolean; ownTools: readonly unknown[] };

function parseToolChoice(
  choice: Record<string, unknown>,
  { tools, wantsThinking, ownTools }: Offer,
): Ask["toolChoice"] {
  const kind = String(choice.type ?? "auto");
  demand(["auto", "any", "tool", "none"].includes(kind), "tool_choice", "tool_choice.type: unexpected value");
  if (kind === "auto" || kind === "none") return kind;
  demand(!wantsThinking, "tool_choice", "tool_choice: thinking may not be enabled when it forces tool use");
  if (kind === "any") return "required";
  const { name } = choice;
  // The model may use the vendor's own tools: this one never does.
  if (ownTools.includes(name)) return "auto";
  demand(
    tools.some((tool) => tool.name === name),
    "tool_choice",
    `tool_choice: tool '${name}' not found`,
  );
  return { name: String(name) };
}

function parseJsonSchema(config: unknown): Record<string, unknown> | null {
  if (!isRecord(config) || !isRecord(config.format)) return null;
  demand(config.format.type === "json_schema", "output_config", "output_config.format.type: unexpected value");
  return demandRecord(config.format.schema, "output_config.format.schema");
}

function readText(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((block) => (isRecord(block) && block.type === "text" ? String(block.text) : "")).join("");
}
