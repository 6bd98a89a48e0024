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

/** What a vendor can do of OpenAI's API, and its ways. Everything else about vendors is the same code for all. */
export type Dialect = {
  /** The vendor's package takes and gives what is its own under this name. */
  optionsName: string;
  /** Fields of the request that are handed on and that not every vendor knows. */
  fields: ReadonlySet<string>;
  temperatureMax: number;
  /** A temperature or top_p that is what the vendor takes anyway and is not sent, because some models refuse any. */
  samplingDefault: number | null;
  takesAudio: boolean;
  /** Whether `cache_control` means something to the vendor. */
  takesCacheMarks: boolean;
  /** Media types of files that the vendor reads. */
  fileTypes: RegExp;
  /** Whether an answer can be JSON of any shape. */
  takesJsonObject: boolean;
  /** What only some of the vendor's models cannot do, and combinations that none can. */
  findModelObstacle(request: ChatRequest, upstreamModel: string | null): ChatObstacle | null;
  /** Whether instructions in the middle of a conversation stay there; else they are put before all of it. */
  keepsInstructionsInPlace(upstreamModel: string): boolean;
  planCall(plan: CallPlan): PlannedCall;
  /**
   * What a vendor wants back of the thoughts that led to a tool call: blocks before the call, a mark on the call, or
   * simply their text.
   */
  thoughts: "before-call" | "on-call" | "as-text";
  /** Warnings of the vendor's package that change nothing for the caller. */
  harmlessWarnings: ReadonlySet<string>;
  /** The vendor's events are looked at as they came, because the package keeps silent about some things in them. */
  readsRawEvents: boolean;
  /** Finish reasons that the package does not know. */
  finishReasons: Readonly<Record<string, "content_filter">>;
  readEarlyUsage(part: LanguageModelV4StreamPart): ChatUsage | null;
  /** Whether every stream ends with a count. */
  reportsStreamUsage: boolean;
  /** The count at the end. `said` is what the vendor said of it, with what its package leaves out. */
  readUsage(usage: LanguageModelV4Usage, said: unknown): ChatUsage | null;
};

type CallPlan = {
  request: ChatRequest;
  upstreamModel: string;
  outputTokensMax: number;
  /** The thoughts behind the tool calls that are being answered did not come back. */
  isThoughtLost: boolean;
};

type PlannedCall = {
  maxOutputTokens: number;
  reasoning?: NonNullable<LanguageModelV4CallOptions["reasoning"]>;
  providerOptions?: SharedV4ProviderOptions;
};

const sampling = ["temperature", "top_p"] as const;

/** `claude-3-7-sonnet-latest` is of 307, `claude-opus-4-20250514` of 400; a name that does not tell is of the newest. */
function readClaudeGeneration(upstreamModel: string): number | null {
  if (!upstreamModel.includes("claude-")) return null;
  const [, major, minor = "0"] = upstreamModel.match(/claude-(?:[a-z]+-)?v?(\d+)(?:[-.](\d{1,2}))?(?!\d)/) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor);
}

const manualThinkingGenerationMax = 405;
const samplingGenerationMax = 406;
const leadingInstructionsGenerationMax = 407;

/** Anthropic takes no smaller budget. */
const thinkingTokensMin = 1024;
/** What thoughts leave to the answer itself. */
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

export const anthropicDialect: Dialect = {
  optionsName: "anthropic",
  fields: new Set(["parallel_tool_calls"]),
  temperatureMax: 1,
  samplingDefault: 1,
  takesAudio: false,
  takesCacheMarks: true,
  fileTypes: /^(?:application\/pdf|text\/plain)$/,
  takesJsonObject: false,
  thoughts: "before-call",
  // The vendor takes four marks; without the others it answers the same.
  harmlessWarnings: new Set(["maxOutputTokens", "cacheControl breakpoint limit"]),
  readsRawEvents: false,
  reportsStreamUsage: true,
  finishReasons: {},

  findModelObstacle(request, upstreamModel) {
    const [first, second] = sampling.filter((field) => (request[field] ?? 1) !== 1);
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
    const share = Math.max(thinkingTokensMin, Math.floor(outputTokensMax * thinkingShares[effort]));
    const budgetTokens = Math.min(share, outputTokensMax - answerTokensMin);
    // A turn that began without its thoughts cannot go on with some, and a short answer has no room for them.
    if (isThoughtLost || budgetTokens < thinkingTokensMin) return plain;
    return {
      // The package adds the budget to the maximum, which would go beyond what the caller can pay.
      maxOutputTokens: outputTokensMax - budgetTokens,
      providerOptions: { anthropic: { ...own, thinking: { type: "enabled", budgetTokens } } },
    };
  },

  readEarlyUsage: (part) =>
    part.type === "custom" && part.kind === "anthropic.message_start"
      ? convertAnthropicUsage(part.providerMetadata?.anthropic?.usage)
      : null,
  readUsage: (usage, said) =>
    readList(usage.raw, "iterations").length > 0 ? convertAnthropicUsage(usage.raw) : convertUsage(usage, said),
};

const penalties = ["frequency_penalty", "presence_penalty"] as const;

export const googleDialect: Dialect = {
  optionsName: "google",
  fields: new Set(["seed", ...penalties]),
  temperatureMax: 2,
  samplingDefault: null,
  takesAudio: true,
  takesCacheMarks: false,
  fileTypes: /^[a-z]+\/[a-z0-9.+-]+$/,
  takesJsonObject: true,
  thoughts: "on-call",
  harmlessWarnings: new Set(),
  // An error in the middle of a stream is nothing that the package looks for.
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
  readUsage: (usage, said) => (usage.raw === undefined ? convertUsage(usage, said) : convertGoogleUsage(usage.raw)),
};

/** For packages that we know nothing of: what their common interface can say, and the vendor may refuse. */
export const genericDialect: Dialect = {
  optionsName: "upstream",
  fields: new Set(["seed", ...penalties]),
  temperatureMax: 2,
  samplingDefault: null,
  takesAudio: true,
  takesCacheMarks: false,
  fileTypes: /^[a-z]+\/[a-z0-9.+-]+$/,
  takesJsonObject: true,
  thoughts: "as-text",
  harmlessWarnings: new Set(),
  // Packages leave counts out that their vendors name in ways of their own.
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
