import type { NativeWire } from "./contract.ts";
import type { DialectName } from "./openai-compatible/dialects/chat-dialects.ts";

/** Vendors of media with a queue of jobs; `queues/queue-vendors.ts` has their tables. */
const queueKinds = [
  "ark",
  "black-forest-labs",
  "dashscope",
  "fireworks",
  "google-media",
  "heygen",
  "kling",
  "luma",
  "minimax",
  "openrouter-media",
  "replicate",
  "runway",
  "vertex-media",
  "xai-media",
] as const;
export type QueueKind = (typeof queueKinds)[number];

/** Vendors of speech; `voices/speech-vendors.ts` has their tables. */
const voiceKinds = [
  "deepgram",
  "elevenlabs",
  "hume",
  "lmnt",
  "minimax-speech",
  "mistral-speech",
  "xai-speech",
] as const;
export type VoiceKind = (typeof voiceKinds)[number];

export const providerKinds = [
  ...(["sandbox", "openai-compatible", "azure", "anthropic", "google", "vertex", "bedrock", "ai-sdk", "fal"] as const),
  "bedrock-media",
  ...queueKinds,
  ...voiceKinds,
] as const;
type ProviderKind = (typeof providerKinds)[number];

const servedTypes = ["chat", "embedding", "transcription", "image", "video", "avatar", "speech"] as const;
type ServedType = (typeof servedTypes)[number];

/** The model types that each kind of provider can serve. If an AI SDK package lacks one, its vendor rejects the call. */
export const servedByKind = {
  sandbox: servedTypes,
  "openai-compatible": ["chat", "embedding", "transcription", "image", "speech"],
  azure: ["chat", "embedding", "transcription", "image", "speech"],
  anthropic: ["chat"],
  google: ["chat", "embedding"],
  vertex: ["chat", "embedding"],
  bedrock: ["chat", "embedding"],
  "ai-sdk": ["chat", "embedding"],
  fal: ["image", "video", "avatar"],
  "bedrock-media": ["image"],
  ark: ["video"],
  "black-forest-labs": ["image"],
  dashscope: ["video", "avatar"],
  fireworks: ["image"],
  "google-media": ["image", "video"],
  heygen: ["avatar"],
  kling: ["video"],
  luma: ["image", "video"],
  minimax: ["video"],
  "openrouter-media": ["image", "video"],
  replicate: ["image", "video", "avatar"],
  runway: ["image", "video"],
  "vertex-media": ["image", "video"],
  "xai-media": ["image", "video"],
  deepgram: ["transcription", "speech"],
  elevenlabs: ["transcription", "speech"],
  hume: ["speech"],
  lmnt: ["speech"],
  "minimax-speech": ["speech"],
  "mistral-speech": ["speech"],
  "xai-speech": ["speech"],
} as const satisfies Record<ProviderKind, readonly ServedType[]>;

/** Vendors with an endpoint that states the balance of an account; `vendor-balance.ts` has their table. */
export const balanceSources = [
  ...(["openrouter", "deepseek", "moonshot", "siliconflow"] as const),
  ...(["luma", "runway", "black-forest-labs"] as const),
] as const;
export type BalanceSource = (typeof balanceSources)[number];

export const balanceNames = [...balanceSources, "none"] as const;

/** Limits of a call's duration; the defaults are in `standardTimeouts`. */
export type TimeoutsDefinition = {
  connect_ms?: number;
  first_byte_ms?: number;
  idle_ms?: number;
  total_ms?: number;
};

/** How to reach an upstream, as operators write it. Secrets are references, `${LIKE_THIS}`. */
export type ProviderDefinition = {
  id: string;
  kind: ProviderKind;
  /** Operation paths are appended to its path; its query is sent with every request. */
  base_url?: string;
  /** Whether `base_url` may be an http address that is not on this machine, for upstreams on a private network. */
  allow_http?: boolean;
  api_keys?: string[];
  /** The account at the vendor, for the kinds of `accounts/account-settings.ts`. */
  resource?: string;
  api_version?: string;
  region?: string;
  /** The AWS role that calls are made as. */
  role_arn?: string;
  external_id?: string;
  sts_url?: string;
  project?: string;
  location?: string;
  publisher?: "google" | "anthropic";
  /** The npm package of an AI SDK provider, for the kind `ai-sdk`. */
  package?: string;
  headers?: Record<string, string>;
  /** The header for the key, if not `Authorization: Bearer`. */
  auth_header?: string;
  /** The upstream's idempotency header: two requests with the same value are one. */
  idempotency_header?: string;
  /** How its chat API differs from OpenAI's. The options below override what it says. */
  dialect?: DialectName;
  output_cap_field?: "max_completion_tokens" | "max_tokens" | "none";
  /** Whether it can report usage in a stream. */
  stream_usage?: boolean;
  /** `system` for upstreams without the role `developer`. */
  system_role?: "as-sent" | "system";
  /** Request fields that it rejects. */
  unsupported_fields?: string[];
  /** Other APIs that it has under the same address. */
  native_wires?: NativeWire[];
  /** `automatic`: add cache marks if the caller set none. Absent means `as-sent`. */
  cache_marks?: "automatic" | "as-sent";
  connections_max?: number;
  /** Whether to send the `traceparent` header. */
  trace_context?: boolean;
  /** The maximum number of concurrent tasks, over all gateways; absent means unlimited. */
  tasks_max?: number;
  /** The maximum number of tasks that are submitted within a minute, over all gateways. */
  tasks_per_minute?: number;
  /** What the two limits are for: the whole provider by default, or each of its keys. */
  task_limits_per?: "provider" | "key";
  /** The secret that the vendor signs callbacks with. */
  webhook_secret?: string;
  /** Whose endpoint states the balance of our account; by default found by kind, dialect or host. */
  balance?: (typeof balanceNames)[number];
  /** The alarm `vendor-balance` fires below this balance, in the vendor's currency. */
  balance_low?: string;
  timeouts?: TimeoutsDefinition;
};

export function isQueueKind(kind: ProviderKind): kind is QueueKind {
  return (queueKinds as readonly string[]).includes(kind);
}

export function isVoiceKind(kind: ProviderKind): kind is VoiceKind {
  return (voiceKinds as readonly string[]).includes(kind);
}

/** Kinds that make media and serve no chat. Each needs a key. */
export function isMediaKind(kind: ProviderKind): kind is "fal" | "bedrock-media" | QueueKind | VoiceKind {
  return kind === "fal" || kind === "bedrock-media" || isQueueKind(kind) || isVoiceKind(kind);
}
