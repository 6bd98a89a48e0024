import type { NativeWire } from "./contract.ts";

export const providerKinds = ["sandbox", "openai-compatible", "anthropic", "google", "ai-sdk", "fal"] as const;
type ProviderKind = (typeof providerKinds)[number];

const servedTypes = ["chat", "embedding", "transcription", "image", "video", "avatar", "speech"] as const;
type ServedType = (typeof servedTypes)[number];

/** Which types of models a provider of each kind can serve. What a package of the AI SDK lacks of it, its vendor says. */
export const servedByKind = {
  sandbox: servedTypes,
  "openai-compatible": ["chat", "embedding", "transcription", "image", "speech"],
  anthropic: ["chat"],
  google: ["chat", "embedding"],
  "ai-sdk": ["chat", "embedding"],
  fal: ["image", "video", "avatar"],
} as const satisfies Record<ProviderKind, readonly ServedType[]>;

/** How long a call may take; what is not said here is as in `standardTimeouts`. */
export type TimeoutsDefinition = {
  connect_ms?: number;
  first_byte_ms?: number;
  idle_ms?: number;
  total_ms?: number;
};

/** How to reach an upstream, as operators write it. Secrets are names of environment variables, `${LIKE_THIS}`. */
export type ProviderDefinition = {
  id: string;
  kind: ProviderKind;
  /** Paths of operations are appended to its path; its query goes with every request. */
  base_url?: string;
  /** Whether `base_url` may be an http address beyond this machine: for upstreams on a private network. */
  allow_http?: boolean;
  api_keys?: string[];
  /** The npm package of an AI SDK provider, for the kind `ai-sdk`. */
  package?: string;
  headers?: Record<string, string>;
  /** The header that carries the key, where it is not `Authorization: Bearer`. */
  auth_header?: string;
  /** The header whose value makes a request that is sent again the same one to it. */
  idempotency_header?: string;
  output_cap_field?: "max_completion_tokens" | "max_tokens" | "none";
  /** Whether it can report the usage of a stream. */
  stream_usage?: boolean;
  /** `system` for upstreams that do not know the role `developer`. */
  system_role?: "as-sent" | "system";
  /** Fields of a request that it cannot take. */
  unsupported_fields?: string[];
  /** The wires beside chat that it speaks itself, under the same address. */
  native_wires?: NativeWire[];
  /** Who sets the marks that its cache needs, where callers set none; absent means nobody. */
  cache_marks?: "automatic" | "as-sent";
  connections_max?: number;
  /** Whether it is told of the trace that a call belongs to, by the header `traceparent`. */
  trace_context?: boolean;
  /** How many tasks it may have at a time, over all gateways; absent means as many as there are. */
  tasks_max?: number;
  timeouts?: TimeoutsDefinition;
};
