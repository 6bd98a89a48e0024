import { listOptionNames, type OfferedOptions } from "../../providers/media-options.ts";
import type { TimeoutsDefinition } from "../../providers/provider-definition.ts";
import type { RoutePolicy } from "../../providers/route-pace.ts";
import type { RouteTerms } from "../../providers/route-terms.ts";

export const modelTypes = [
  "chat",
  "image",
  "video",
  "avatar",
  "drama",
  "speech",
  "embedding",
  "transcription",
] as const;
export const modelStatuses = ["available", "degraded", "unavailable", "deprecated"] as const;

export type ModelType = (typeof modelTypes)[number];
export type ModelStatus = (typeof modelStatuses)[number];

/** The capabilities that a model of each type may have. */
export const capabilitiesByType = {
  chat: ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"],
  image: ["text_to_image", "image_to_image"],
  video: ["text_to_video", "image_to_video"],
  avatar: ["audio_driven_avatar"],
  drama: ["script_generation", "role_analysis", "storyboard", "drama_video"],
  speech: ["text_to_speech"],
  embedding: ["text_embedding", "dimensions"],
  transcription: ["transcription", "translation", "timestamps", "diarization"],
} as const satisfies Record<ModelType, readonly string[]>;

export const capabilities = Object.values(capabilitiesByType).flat();
export type Capability = (typeof capabilities)[number];

/** The stages of a drama, in order: each starts from the previous one's result. */
export const dramaStages = ["script", "roles", "storyboard", "video"] as const;
export type DramaStage = (typeof dramaStages)[number];

/** The capability that offers each stage. */
export const capabilityByStage = {
  script: "script_generation",
  roles: "role_analysis",
  storyboard: "storyboard",
  video: "drama_video",
} as const satisfies Record<DramaStage, Capability>;

/**
 * The models that run each stage of a drama, by type. Their own plans and prices don't matter here: the drama is
 * charged.
 */
export type DramaStages = {
  script?: { chat: string };
  roles?: { chat: string };
  storyboard?: { chat: string; image: string };
  /** The avatar model makes the shots in which one role speaks; without it, the video model does. */
  video?: { video: string; speech: string; avatar?: string };
};

/** The stages that a drama model runs: all up to the last one offered, because a run may start from raw text. */
export function listStages(offered: readonly Capability[]): DramaStage[] {
  const last = dramaStages.findLastIndex((stage) => offered.includes(capabilityByStage[stage]));
  return dramaStages.slice(0, last + 1);
}

/** Every model that the stages name, with its type there. */
export function listStageModels(stages: DramaStages = {}): { stage: DramaStage; type: ModelType; modelId: string }[] {
  return dramaStages.flatMap((stage) => {
    const named = Object.entries(stages[stage] ?? {}) as [ModelType, string][];
    return named.map(([type, modelId]) => ({ stage, type, modelId }));
  });
}

/** The limits that apply to each type. */
export const limitsByType = {
  chat: ["max_prompt_length", "context_window", "max_output_tokens"],
  image: ["aspect_ratios", "max_prompt_length", "sizes", "max_n", "max_input_images", ...listOptionNames("image")],
  video: [
    ...(["durations", "aspect_ratios", "max_prompt_length", "max_input_images", "last_image"] as const),
    ...listOptionNames("video"),
  ],
  avatar: ["durations", "aspect_ratios", ...listOptionNames("avatar")],
  drama: ["durations", "aspect_ratios", "max_prompt_length"],
  speech: ["max_prompt_length", "voices", "response_formats", ...listOptionNames("speech")],
  embedding: ["context_window", "max_inputs", "max_dimensions"],
  transcription: ["max_prompt_length", "max_output_tokens", "max_audio_seconds", "max_file_bytes"],
} as const satisfies Record<ModelType, readonly (keyof ModelLimits)[]>;

export type ModelLimits = {
  durations?: number[];
  aspect_ratios?: string[];
  max_prompt_length?: number;
  sizes?: string[];
  max_n?: number;
  max_input_images?: number;
  voices?: string[];
  response_formats?: string[];
  context_window?: number;
  max_output_tokens?: number;
  max_inputs?: number;
  max_dimensions?: number;
  max_audio_seconds?: number;
  max_file_bytes?: number;
  last_image?: true;
} & OfferedOptions;

/**
 * Fields and content parts of a chat request that change its cost or destination: a model must list them to accept
 * them.
 */
export const extraParameters = [
  "audio",
  "files",
  "modalities",
  "prediction",
  "service_tier",
  "store",
  "web_search_options",
] as const;
export type ExtraParameter = (typeof extraParameters)[number];

/** An upstream that serves a model. Lower priorities are tried first; weights split the load among equals. */
export type Route = {
  provider: string;
  upstream_model: string;
  priority: number;
  weight: number;
  /** Fields that only this upstream knows, forwarded unchanged. */
  passthrough?: string[];
  timeouts?: TimeoutsDefinition;
  /** What the upstream charges, in any unit that is the same for all routes of the model; for the policy only. */
  cost?: string;
  /** The vendor's price, in the fields of a price. `cost-sheet.ts` compiles it. */
  cost_sheet?: { unit: string } & Record<string, unknown>;
  /** Whether to store the cost that the vendor reports with each call, in US dollars. */
  reports_cost?: true;
  /** The only capability that this route serves; absent means all. */
  capability?: Capability;
} & RouteTerms;

export const holdPolicies = ["full", "metered"] as const;
type HoldPolicy = (typeof holdPolicies)[number];

export type Model = {
  id: string;
  /** Other names that calls may use, such as the defaults of clients. Responses and bills have the id. */
  aliases?: string[];
  name: string;
  type: ModelType;
  logo: string;
  description: string;
  advantages: string[];
  scenarios: string[];
  capabilities: Capability[];
  limits: ModelLimits;
  /** The hold of a metered call starts with this many output tokens. */
  usual_output_tokens?: number;
  /**
   * Whether a stream of this model is metered as it arrives, or its full cap is on hold from the start. Absent means
   * metered if all output is visible: the model does not reason, and its upstreams report usage in their streams.
   */
  hold?: HoldPolicy;
  extra_parameters?: ExtraParameter[];
  /** The plans whose accounts may use it; absent means all accounts. */
  plans?: string[];
  created_at: string;
  deprecated_at?: string;
  shutdown_date?: string;
  /** How calls choose among routes of the same priority; absent means by weight. */
  policy?: RoutePolicy;
  /** Empty for a drama: the models of its stages have the routes. */
  routes: Route[];
  stages?: DramaStages;
};
