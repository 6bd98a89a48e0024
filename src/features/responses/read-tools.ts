import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest, ChatTool } from "../../providers/chat-request.ts";
import type { ChatObstacle } from "../../providers/contract.ts";
import { isObject, type JsonObject, type ResponseRequest } from "./response-request.ts";
import { joinToolName } from "./tool-namespaces.ts";
import { isClientSearch, type PlacedEntry, searchFunction } from "./tool-search.ts";

type ReadTools = {
  fields: Pick<ChatRequest, "tools" | "tool_choice" | "parallel_tool_calls">;
  /** The place of each tool in the caller's request. */
  places: string[];
  obstacle: ChatObstacle | null;
};
type PlacedTool = { tool: ChatTool; place: string };
type ToolChoice = NonNullable<ChatRequest["tool_choice"]>;

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
/** Tool options that chat cannot express. */
const foreignOptions = ["defer_loading", "async"] as const;

/** The tools and tool choice of a request in the chat format. `entries` are the tools, also those that were found. */
export function readTools(request: ResponseRequest, entries: readonly PlacedEntry[]): ReadTools {
  const { tools } = request;
  const obstacles: ChatObstacle[] = [];
  const listed: PlacedTool[] = [];
  for (const { entry, place } of entries) readEntry(entry, place, obstacles, listed);
  const offered = entries.length === (tools ?? []).length ? listed : dropFoundAgain(listed);
  const read = readToolOptions(
    request,
    { isIdle: (tools ?? []).length === 0, isOffered: offered.length > 0 },
    obstacles,
  );
  return {
    ...read,
    fields: { ...(offered.length === 0 ? {} : { tools: offered.map(({ tool }) => tool) }), ...read.fields },
    places: offered.map(({ place }) => place),
  };
}

/** How the tools may be used. */
export function readToolOptions(
  { tool_choice: choice, parallel_tool_calls: isParallel }: ResponseRequest,
  { isIdle, isOffered }: { isIdle: boolean; isOffered: boolean },
  obstacles: ChatObstacle[] = [],
): Pick<ReadTools, "fields" | "obstacle"> {
  const chosen = choice == null ? undefined : readChoice(choice, obstacles);
  const [obstacle = null] = obstacles;
  // Clients send a tool choice without tools, and OpenAI's API accepts it.
  const isNeedless = isIdle && (chosen === undefined || chosen === "auto" || chosen === "none");
  const fields = {
    // Beside tools that only an upstream with the Responses API has, only that upstream can apply the choice.
    ...(chosen === undefined || isNeedless || obstacle !== null ? {} : { tool_choice: chosen }),
    ...(isParallel == null || !isOffered ? {} : { parallel_tool_calls: isParallel }),
  };
  return { fields, obstacle };
}

/** Adds one tool, or all tools of a namespace. */
function readEntry(entry: JsonObject, place: string, obstacles: ChatObstacle[], listed: PlacedTool[]): void {
  const add = (tool: ChatTool | null, at: string): void => {
    if (tool !== null) listed.push({ tool, place: at });
  };
  if (entry.type !== "namespace") {
    add(readTool(entry, place, obstacles), place);
    return;
  }
  const namespace = readName(entry, place);
  const { tools } = entry;
  if (!Array.isArray(tools)) throw refuse(`${place}.tools`, `\`${place}.tools\` must be a list of tools.`);
  for (const [index, tool] of tools.entries()) {
    const inner = `${place}.tools[${index}]`;
    if (!isObject(tool)) throw refuse(inner, `\`${inner}\` must be a tool.`);
    const name = joinToolName({ namespace, name: readName(tool, inner) });
    add(readTool({ ...tool, name }, inner, obstacles), inner);
  }
}

/** A later search may find the same tool. */
function dropFoundAgain(listed: readonly PlacedTool[]): PlacedTool[] {
  const known = new Set<string>();
  return listed.filter(({ tool, place }) => {
    const name = tool.type === "function" ? tool.function.name : tool.custom.name;
    const isNew = !known.has(name);
    known.add(name);
    return isNew || place.startsWith("tools[");
  });
}

function readTool(tool: JsonObject, place: string, obstacles: ChatObstacle[]): ChatTool | null {
  const { type } = tool;
  if (typeof type !== "string") throw refuse(`${place}.type`, `\`${place}.type\` is missing.`);
  if (isClientSearch(tool)) return readTool({ ...tool, type: "function", name: searchFunction }, place, obstacles);
  if (type !== "function" && type !== "custom") {
    obstacles.push({ param: place, message: `This model does not support the tool ${type}.` });
    return null;
  }
  for (const option of foreignOptions) {
    if (tool[option] !== true) continue;
    obstacles.push({ param: `${place}.${option}`, message: `This model does not support \`${option}\`.` });
  }
  const described = typeof tool.description === "string" ? { description: tool.description } : {};
  const name = readName(tool, place);
  if (type === "function") return { type, function: { name, ...described, ...readFunction(tool, place) } };
  return { type, custom: { name, ...described, ...readFormat(tool.format, place) } };
}

function readFunction({ parameters, strict }: JsonObject, place: string) {
  if (parameters != null && !isObject(parameters))
    throw refuse(`${place}.parameters`, `\`${place}.parameters\` must be a JSON schema.`);
  if (strict != null && typeof strict !== "boolean")
    throw refuse(`${place}.strict`, `\`${place}.strict\` must be true or false.`);
  return { ...(parameters == null ? {} : { parameters }), ...(strict == null ? {} : { strict }) };
}

/** Chat nests the grammar one level deeper. */
function readFormat(format: unknown, place: string): { format?: JsonObject } {
  if (format == null) return {};
  if (!isObject(format)) throw refuse(`${place}.format`, `\`${place}.format\` must be an object.`);
  if (format.type !== "grammar") return { format };
  const { syntax, definition } = format;
  return { format: { type: "grammar", grammar: { syntax, definition } } };
}

function readChoice(
  choice: NonNullable<ResponseRequest["tool_choice"]>,
  obstacles: ChatObstacle[],
): ToolChoice | undefined {
  if (typeof choice === "string") return choice;
  const { type } = choice;
  if (type === "function") return { type, function: { name: readName(choice, "tool_choice") } };
  if (type === "custom") return { type, custom: { name: readName(choice, "tool_choice") } };
  if (type === "allowed_tools") return readAllowed(choice, obstacles);
  if (typeof type !== "string") throw refuse("tool_choice.type", "`tool_choice.type` is missing.");
  obstacles.push({ param: "tool_choice", message: `This model does not support the tool ${type}.` });
  return undefined;
}

function readAllowed({ mode, tools }: JsonObject, obstacles: ChatObstacle[]): ToolChoice {
  if (mode !== "auto" && mode !== "required")
    throw refuse("tool_choice.mode", "`tool_choice.mode` must be auto or required.");
  if (!Array.isArray(tools) || tools.length === 0)
    throw refuse("tool_choice.tools", "`tool_choice.tools` must be a list of tools.");
  const allowed = tools.map((tool: unknown, index) => {
    const place = `tool_choice.tools[${index}]`;
    if (!isObject(tool) || typeof tool.type !== "string") throw refuse(place, `\`${place}\` must be a tool.`);
    if (tool.type !== "function" && tool.type !== "custom") {
      obstacles.push({ param: place, message: `This model does not support the tool ${tool.type}.` });
      return { type: tool.type };
    }
    return { type: tool.type, [tool.type]: { name: readName(tool, place) } };
  });
  return { type: "allowed_tools", allowed_tools: { mode, tools: allowed } };
}

function readName({ name }: JsonObject, place: string): string {
  if (typeof name === "string" && namePattern.test(name)) return name;
  throw refuse(`${place}.name`, `\`${place}.name\` must be 1 to 64 letters, digits, underscores or dashes.`);
}

function refuse(param: string, message: string): AppError {
  return new AppError("invalid_parameter", message, { param });
}
