import { stringify } from "yaml";
import { upstreamKeyName } from "../chat/chat-catalog.ts";
import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { narratorVoice, playVoices } from "./drama-play.ts";

type Fields = Record<string, unknown>;

/** The models of a drama, at its own providers, so that faults of one cast do not affect the others. */
export type Cast = {
  /** The drama model's id, and a part of the name of everything else in the cast. */
  name: string;
  /** The time-out of each of its upstreams; the default unless given. */
  totalMs?: number;
  /** Whether single speakers are shown as avatars; true by default. */
  hasAvatar?: boolean;
  /** Whether images are created through a queue, like videos; by default they are synchronous. */
  drawsInQueue?: boolean;
  /** Whether its image, video and avatar models offer a seed. */
  offersSeed?: boolean;
  limits?: Fields;
};

const parts = ["chat", "image", "speech", "video", "avatar"] as const;
export type Part = (typeof parts)[number];
export type RouteNumber = 1 | 2;

/** The upstream's name of a step's model; queued ones are a path. */
export function nameUpstreamModel(cast: string, part: Part, route: RouteNumber): string {
  return part === "chat" || part === "speech"
    ? `${canary}-${cast}-${part}-${route}`
    : `${canary}/${cast}/${part}-${route}`;
}

const dramaPrices = { script: "0.02", roles: "0.01", storyboard: "0.10", second: "0.08", minimum: "0.40" };

/** Drama models, each with two routes for every step. */
export function writeDramaCatalog(upstream: FakeUpstreams, casts: readonly Cast[]): string {
  const written = casts.map((cast) => writeCast(upstream, cast));
  return stringify({
    currency: "USD",
    providers: written.flatMap(({ providers }) => providers),
    models: written.flatMap(({ models }) => models).map((model) => ({ name: String(model.id), ...model })),
    prices: written.flatMap(({ prices }) => prices),
  });
}

const kinds = { open: "openai-compatible", fal: "fal" } as const;

function writeCast(
  { openAiUrl, falUrl }: FakeUpstreams,
  { name, totalMs, hasAvatar = true, drawsInQueue = false, offersSeed = false, limits = {} }: Cast,
): { providers: Fields[]; models: Fields[]; prices: Fields[] } {
  const keys = [`\${${upstreamKeyName}}`];
  const timeouts = totalMs === undefined ? {} : { timeouts: { total_ms: totalMs } };
  const providers = ([1, 2] as const).flatMap((route) =>
    (["open", "fal"] as const).map((kind) => ({
      ...{ id: `${name}-${kind}-${route}`, kind: kinds[kind], base_url: kind === "open" ? openAiUrl : falUrl },
      ...{ api_keys: keys, ...timeouts },
    })),
  );
  const route = (part: Part): Fields[] => {
    const hasQueue = part === "video" || part === "avatar" || (part === "image" && drawsInQueue);
    const kind = hasQueue ? "fal" : "open";
    return ([1, 2] as const).map((number) => ({
      provider: `${name}-${kind}-${number}`,
      upstream_model: nameUpstreamModel(name, part, number),
      priority: number,
    }));
  };
  const stages = {
    script: { chat: `${name}-chat` },
    roles: { chat: `${name}-chat` },
    storyboard: { chat: `${name}-chat`, image: `${name}-image` },
    video: {
      ...{ video: `${name}-video`, speech: `${name}-speech` },
      ...(hasAvatar ? { avatar: `${name}-avatar` } : {}),
    },
  };
  const drama = {
    ...{ id: name, type: "drama", stages },
    capabilities: ["script_generation", "role_analysis", "storyboard", "drama_video"],
    limits: { durations: [30], aspect_ratios: ["16:9", "9:16"], max_prompt_length: 20_000, ...limits },
  };
  const models = parts
    .filter((part) => part !== "avatar" || hasAvatar)
    .map((part) => ({
      ...{ id: `${name}-${part}`, type: part, ...partFields[part], routes: route(part) },
      ...(offersSeed && part !== "chat" && part !== "speech"
        ? { limits: { ...(partFields[part].limits as Fields), seed: true } }
        : {}),
    }));
  return { providers, models: [...models, drama], prices: writePrices(name) };
}

const partFields: Record<Part, Fields> = {
  chat: { capabilities: ["chat", "streaming", "json_schema"], limits: { max_output_tokens: 16_000 } },
  image: {
    capabilities: ["text_to_image", "image_to_image"],
    limits: { sizes: ["128x72", "72x128"], max_n: 1, max_input_images: 2, max_prompt_length: 1000 },
  },
  speech: {
    capabilities: ["text_to_speech"],
    limits: { voices: [...playVoices, narratorVoice], response_formats: ["mp3"], max_prompt_length: 1000 },
  },
  video: {
    capabilities: ["text_to_video", "image_to_video"],
    limits: { durations: [2, 3, 5], aspect_ratios: ["16:9", "9:16"], max_input_images: 1, max_prompt_length: 1000 },
  },
  avatar: { capabilities: ["audio_driven_avatar"], limits: { durations: [60], aspect_ratios: ["16:9", "9:16"] } },
};

function writePrices(model: string): Fields[] {
  const call = (capability: string, price: string): Fields => {
    return { model, capability, billing_type: "per_call", unit: "call", price };
  };
  return [
    call("script_generation", dramaPrices.script),
    call("role_analysis", dramaPrices.roles),
    call("storyboard", dramaPrices.storyboard),
    {
      ...{ model, capability: "drama_video", billing_type: "duration", unit: "second" },
      ...{ price: dramaPrices.second, minimum_charge: dramaPrices.minimum },
    },
  ];
}
