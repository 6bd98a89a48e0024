import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
} from "@ai-sdk/provider";
import { addCacheControl, type CacheControlPolicy, defaultCacheControl } from "../cache-control.ts";
import type { ChatRequest, ChatTool } from "../chat-request.ts";
import { convertMessages, type FetchedImage, forwardCacheControl } from "./convert-messages.ts";
import type { Dialect } from "./dialects.ts";
import { readToolName } from "./find-obstacle.ts";
import type { ThoughtSeal } from "./thought-seal.ts";

type RequestContext = {
  dialect: Dialect;
  upstreamModel: string;
  outputTokensMax: number;
  seal: ThoughtSeal;
  images: ReadonlyMap<string, FetchedImage>;
  /** Without it, the package sees all media. */
  hideMedia?(base64: string): string;
  cacheControl?: CacheControlPolicy;
};

/** Converts the request for the SDK. `findObstacle` has rejected what cannot be converted. */
export function convertRequest(asked: ChatRequest, context: RequestContext): LanguageModelV4CallOptions {
  const { dialect, upstreamModel, outputTokensMax, seal, images, hideMedia = (base64: string) => base64 } = context;
  const { isAutomatic, allowsHour } = context.cacheControl ?? defaultCacheControl;
  const request = isAutomatic && dialect.takesCacheControl ? addCacheControl(asked) : asked;
  const keepsInstructionsInPlace = dialect.keepsInstructionsInPlace(upstreamModel);
  const prompt = convertMessages(request.messages, {
    ...{ dialect, keepsInstructionsInPlace, seal, allowsHour, images, hideMedia },
  });
  const isThoughtLost = hasLostThought(prompt);
  return {
    prompt,
    ...convertSampling(request, dialect),
    ...convertTools(request, { dialect, allowsHour }),
    ...convertFormat(request),
    ...dialect.planCall({ request, upstreamModel, outputTokensMax, isThoughtLost }),
    ...(dialect.readsRawEvents && request.stream === true ? { includeRawChunks: true } : {}),
  };
}

function convertSampling(request: ChatRequest, dialect: Dialect): Partial<LanguageModelV4CallOptions> {
  const { temperature, top_p, top_k, stop, seed, frequency_penalty, presence_penalty } = request;
  return {
    ...(isSet(temperature) && temperature !== dialect.samplingDefault ? { temperature } : {}),
    ...(isSet(top_p) && top_p !== dialect.samplingDefault ? { topP: top_p } : {}),
    ...(typeof top_k === "number" ? { topK: top_k } : {}),
    ...(isSet(stop) ? { stopSequences: [stop].flat() } : {}),
    ...(isSet(seed) ? { seed } : {}),
    ...(isSet(frequency_penalty) && frequency_penalty !== 0 ? { frequencyPenalty: frequency_penalty } : {}),
    ...(isSet(presence_penalty) && presence_penalty !== 0 ? { presencePenalty: presence_penalty } : {}),
  };
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

type ToolContext = { dialect: Dialect; allowsHour: boolean };

function convertTools(
  { tools = [], tool_choice }: ChatRequest,
  context: ToolContext,
): Partial<LanguageModelV4CallOptions> {
  if (tools.length === 0) return {};
  const converted = tools.flatMap((tool) => convertTool(tool, context));
  if (tool_choice === undefined) return { tools: converted };
  if (typeof tool_choice === "string") return { tools: converted, toolChoice: { type: tool_choice } };
  if (tool_choice.type === "allowed_tools") {
    const { mode, tools: allowed } = tool_choice.allowed_tools;
    const names = new Set(allowed.map(readToolName));
    return { tools: converted.filter(({ name }) => names.has(name)), toolChoice: { type: mode } };
  }
  const toolChoice: LanguageModelV4ToolChoice =
    tool_choice.type === "function" ? { type: "tool", toolName: tool_choice.function.name } : { type: "auto" };
  return { tools: converted, toolChoice };
}

function convertTool(tool: ChatTool, context: ToolContext): LanguageModelV4FunctionTool[] {
  if (tool.type !== "function") return [];
  const { name, description, parameters, strict } = tool.function;
  return [
    {
      type: "function",
      name,
      inputSchema: (parameters ?? { type: "object", properties: {} }) as JSONSchema7,
      ...(description === undefined ? {} : { description }),
      ...(strict ? { strict } : {}),
      ...forwardCacheControl(tool, context),
    },
  ];
}

function convertFormat({ response_format }: ChatRequest): Partial<LanguageModelV4CallOptions> {
  if (response_format === undefined || response_format.type === "text") return {};
  if (response_format.type === "json_object") return { responseFormat: { type: "json" } };
  const { name, description, schema } = response_format.json_schema;
  return {
    responseFormat: {
      type: "json",
      name,
      schema: schema as JSONSchema7,
      ...(description === undefined ? {} : { description }),
    },
  };
}

/** Whether the model is in the middle of a turn whose reasoning was not sent back. */
function hasLostThought(prompt: LanguageModelV4Prompt): boolean {
  const turn = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
  return turn.some(
    (message) =>
      message.role === "assistant" &&
      message.content.some(({ type }) => type === "tool-call") &&
      message.content[0]?.type !== "reasoning",
  );
}
