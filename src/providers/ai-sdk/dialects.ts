import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ChatRequest, ReasoningEffort } from "../chat-request.ts";
import type { ChatObstacle, ChatUsage } from "../contract.ts";
import { convertAnthropicUsage, convertGoogleUsage, convertUsage } from "./convert-usage.ts";
import { readField, readList } from "./read-json.ts";

/** What a vendor supports of OpenAI's API, and its quirks. Everything else is the same code for all vendors. */
export type Dialect = {
  /** The key of the vendor's own options in the package. */
  optionsName: string;
  /** Optional request fields that this vendor supports. */
  fields: ReadonlySet<string>;
  /** Fields outside OpenAI's API that this vendor supports. */
  vendorFields: ReadonlySet<string>;
  temperatureMax: number;
  /** A `temperature` or `top_p` that equals the vendor's default is not sent, because some models reject any. */
  samplingDefault: number | null;
  takesAudio: boolean;
  /** Whether the vendor supports cache marks (`cache-control.ts`). */
  takesCacheControl: boolean;
  /** Media types of files that the vendor reads. */
  fileTypes: RegExp;
  /** Whether the vendor supports `json_object` without a schema. */
  takesJsonObject: boolean;
  /** What some of the vendor's models do not support, and combinations that none does. */
  findModelObstacle(request: ChatRequest, upstreamModel: string | null): ChatObstacle | null;
  /** Whether a system message in the middle of a conversation stays there; otherwise it moves to the start. */
  keepsInstructionsInPlace(upstreamModel: string): boolean;
  planCall(plan: CallPlan): PlannedCall;
  /**
   * What the vendor wants back of the reasoning before a tool call: blocks before the call, a signature on the call, or
   * its text.
   */
  thoughts: "before-call" | "on-call" | "as-text";
  /** Package warnings that do not affect the caller. */
  harmlessWarnings: ReadonlySet<string>;
  /** The vendor's raw events are read too, because the package omits some things. */
  readsRawEvents: boolean;
  /** Finish reasons that the package does not know. */
  finishReasons: Readonly<Record<string, "content_filter">>;
  readEarlyUsage(part: LanguageModelV4StreamPart): ChatUsage | null;
  /** Whether every stream ends with usage. */
  reportsStreamUsage: boolean;
  /** The usage at the end. `vendorUsage` is the vendor's own, with what the package omits. */
  readUsage(usage: LanguageModelV4Usage, vendorUsage: unknown): ChatUsage | null;
};

type CallPlan = {
  request: ChatRequest;
  upstreamModel: string;
  outputTokensMax: number;
  /** The reasoning before the tool calls being answered was not sent back. */
  isThoughtLost: boolean;
};

type PlannedCall = {
  maxOutputTokens: number;
  reasoning?: NonNullable<LanguageModelV4CallOptions["reasoning"]>;
  providerOptions?: SharedV4ProviderOptions;
};

const sampling = ["temperature", "top_p"] as const;

/** `claude-3-7-sonnet-latest` is 307, `claude-opus-4-20250514` is 400; a name without a number is the newest. */
function readClaudeGeneration(upstreamModel: string): number | null {
  if (!upstreamModel.includes("claude-")) return null;
  const [, major, minor = "0"] = upstreamModel.match(/claude-(?:[a-z]+-)?v?(\d+)(?:[-.](\d{1,2}))?(?!\d)/) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor);
}

const manualThinkingGenerationMax = 405;
const samplingGenerationMax = 406;
const leadingInstructionsGenerationMax = 407;

/** Anthropic's minimum thinking budget. */
const thinkingTokensMin = 1024;
/** Tokens that thinking must leave for the answer. */
const answerTokensMin = 512;
const thinkingShares: Readonly<Record<Exclude<ReasoningEffort, "none">, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.75,
  xhigh: 0.85,
  max: 0.9,
};
const userIdLengthMax = 256;

/** The thinking budget of a Claude model that needs one; `null` if a short answer has no room for it. */
function planThinking(effort: Exclude<ReasoningEffort, "none">, outputTokensMax: number): number | null {
  const share = Math.max(thinkingTokensMin, Math.floor(outputTokensMax * thinkingShares[effort]));
  const budgetTokens = Math.min(share, outputTokensMax - answerTokensMin);
  return budgetTokens < thinkingTokensMin ? null : budgetTokens;
}

export const anthropicDialect: Dialect = {
  optionsName: "anthropic",
  fields: new Set(["parallel_tool_calls"]),
  // Anthropic continues a last message of the assistant.
  vendorFields: new Set(["top_k", "prefix"]),
  temperatureMax: 1,
  samplingDefault: 1,
  takesAudio: false,
  takesCacheControl: true,
  fileTypes: /^(?:application\/pdf|text\/plain)$/,
  takesJsonObject: false,
  thoughts: "before-call",
  // Anthropic accepts four cache breakpoints. Dropping more does not change the answer.
  harmlessWarnings: new Set(["maxOutputTokens", "cacheControl breakpoint limit"]),
  readsRawEvents: false,
  reportsStreamUsage: true,
  finishReasons: {},

  findModelObstacle(request, upstreamModel) {
    const [given, second] = sampling.filter((field) => (request[field] ?? 1) !== 1);
    const first = given ?? (typeof request.top_k === "number" ? "top_k" : undefined);
    if (first === undefined) return null;
    if (second !== undefined) return { param: second, message: "This model takes temperature or top_p, not both." };
    const effort = request.reasoning_effort ?? "none";
    if (effort !== "none") return { param: first, message: `This model does not take ${first} with reasoning_effort.` };
    const generation = upstreamModel === null ? null : readClaudeGeneration(upstreamModel);
    return generation !== null && generation > samplingGenerationMax
      ? { param: first, message: `This model does not support ${first}.` }
      : null;
  },

  keepsInstructionsInPlace: (upstreamModel) =>
    (readClaudeGeneration(upstreamModel) ?? 0) > leadingInstructionsGenerationMax,

  planCall({ request, upstreamModel, outputTokensMax, isThoughtLost }) {
    const userId = request.user ?? request.safety_identifier;
    const own = {
      ...(typeof userId === "string" ? { metadata: { userId: userId.slice(0, userIdLengthMax) } } : {}),
      ...(request.parallel_tool_calls === false ? { disableParallelToolUse: true } : {}),
    };
    const effort = request.reasoning_effort ?? null;
    const plain = { maxOutputTokens: outputTokensMax, providerOptions: { anthropic: own } };
    if (effort === null) return plain;
    const isManual = (readClaudeGeneration(upstreamModel) ?? 0) <= manualThinkingGenerationMax;
    if (effort === "none" || !isManual) return { ...plain, reasoning: effort };
    // Anthropic rejects thinking in a turn that began without it.
    const budgetTokens = isThoughtLost ? null : planThinking(effort, outputTokensMax);
    if (budgetTokens === null) return plain;
    return {
      // The package adds the budget to the maximum, which would exceed the hold.
      maxOutputTokens: outputTokensMax - budgetTokens,
      providerOptions: { anthropic: { ...own, thinking: { type: "enabled", budgetTokens } } },
    };
  },

  readEarlyUsage: (part) =>
    part.type === "custom" && part.kind === "anthropic.message_start"
      ? convertAnthropicUsage(part.providerMetadata?.anthropic?.usage)
      : null,
  readUsage: (usage, vendorUsage) =>
    readList(usage.raw, "iterations").length > 0 ? convertAnthropicUsage(usage.raw) : convertUsage(usage, vendorUsage),
};

const penalties = ["frequency_penalty", "presence_penalty"] as const;

export const googleDialect: Dialect = {
  optionsName: "google",
  fields: new Set(["seed", ...penalties]),
  vendorFields: new Set(["top_k"]),
  temperatureMax: 2,
  samplingDefault: null,
  takesAudio: true,
  takesCacheControl: false,
  fileTypes: /^[a-z]+\/[a-z0-9.+-]+$/,
  takesJsonObject: true,
  thoughts: "on-call",
  harmlessWarnings: new Set(),
  // The package ignores errors in the middle of a stream.
  readsRawEvents: true,
  reportsStreamUsage: true,
  finishReasons: {
    IMAGE_PROHIBITED_CONTENT: "content_filter",
    IMAGE_RECITATION: "content_filter",
    MODEL_ARMOR: "content_filter",
  },

  findModelObstacle(request, upstreamModel) {
    const isWithoutPenalties = upstreamModel !== null && /(?:^|[/.])gemini-2\.5(?:[.-]|$)/i.test(upstreamModel);
    const param = isWithoutPenalties ? penalties.find((field) => (request[field] ?? 0) !== 0) : undefined;
    return param === undefined ? null : { param, message: `This model does not support ${param}.` };
  },

  keepsInstructionsInPlace: () => false,

  planCall({ request, outputTokensMax }) {
    const effort = request.reasoning_effort ?? null;
    if (effort === null) return { maxOutputTokens: outputTokensMax };
    const own = effort === "none" ? {} : { thinkingConfig: { includeThoughts: true } };
    return { maxOutputTokens: outputTokensMax, reasoning: effort, providerOptions: { google: own } };
  },

  readEarlyUsage: (part) =>
    part.type === "raw" ? convertGoogleUsage(readField(part.rawValue, "usageMetadata")) : null,
  readUsage: (usage, vendorUsage) =>
    usage.raw === undefined ? convertUsage(usage, vendorUsage) : convertGoogleUsage(usage.raw),
};

/** Gemini on Vertex AI. The package keeps its marks under another name, and the platform takes penalties. */
export const vertexGoogleDialect: Dialect = {
  ...googleDialect,
  optionsName: "googleVertex",
  findModelObstacle: () => null,
};

/** Amazon Bedrock's Converse API, for the models of all its vendors. */
export const bedrockDialect: Dialect = {
  optionsName: "amazonBedrock",
  fields: new Set(),
  // Converse ignores `topK`.
  vendorFields: new Set(),
  temperatureMax: 1,
  samplingDefault: null,
  takesAudio: false,
  takesCacheControl: false,
  fileTypes:
    /^(?:application\/(?:pdf|msword|vnd\.ms-excel|vnd\.openxmlformats-officedocument\.(?:wordprocessingml\.document|spreadsheetml\.sheet))|text\/(?:csv|html|plain|markdown))$/,
  takesJsonObject: false,
  thoughts: "before-call",
  harmlessWarnings: new Set(),
  readsRawEvents: false,
  reportsStreamUsage: true,
  finishReasons: {},
  findModelObstacle: () => null,
  keepsInstructionsInPlace: () => false,

  planCall({ request, upstreamModel, outputTokensMax, isThoughtLost }) {
    const effort = request.reasoning_effort ?? null;
    const plain = { maxOutputTokens: outputTokensMax };
    if (effort === null) return plain;
    const generation = readClaudeGeneration(upstreamModel);
    const isManual = generation !== null && generation <= manualThinkingGenerationMax;
    if (effort === "none" || !isManual) return { ...plain, reasoning: effort };
    const budgetTokens = isThoughtLost ? null : planThinking(effort, outputTokensMax);
    if (budgetTokens === null) return plain;
    return {
      // The package adds the budget to the maximum, which would exceed the hold.
      maxOutputTokens: outputTokensMax - budgetTokens,
      providerOptions: { amazonBedrock: { reasoningConfig: { type: "enabled", budgetTokens } } },
    };
  },

  readEarlyUsage: () => null,
  readUsage: convertUsage,
};

/** For unknown packages: everything that the SDK's interface supports. The vendor may reject it. */
export const genericDialect: Dialect = {
  optionsName: "upstream",
  fields: new Set(["seed", ...penalties]),
  vendorFields: new Set(["top_k"]),
  temperatureMax: 2,
  samplingDefault: null,
  takesAudio: true,
  takesCacheControl: false,
  fileTypes: /^[a-z]+\/[a-z0-9.+-]+$/,
  takesJsonObject: true,
  thoughts: "as-text",
  harmlessWarnings: new Set(),
  // Packages omit counts that their vendors name in their own ways.
  readsRawEvents: true,
  reportsStreamUsage: false,
  finishReasons: {},
  findModelObstacle: () => null,
  keepsInstructionsInPlace: () => true,
  planCall: ({ request, outputTokensMax }) => ({
    maxOutputTokens: outputTokensMax,
    ...(request.reasoning_effort ? { reasoning: request.reasoning_effort } : {}),
  }),
  readEarlyUsage: () => null,
  readUsage: convertUsage,
};
