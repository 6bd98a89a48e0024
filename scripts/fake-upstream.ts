// Runs fake vendors: `node scripts/fake-upstream.ts --port 4300`. Save the printed catalog to a file, then run
// FAKE_UPSTREAM_KEY=any npm run sluice -- catalog apply that-file.yaml
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { startFakeUpstreams } from "../test/harness/upstreams/fake-upstreams.ts";
import { faultWords } from "../test/harness/upstreams/fault-words.ts";
import { mediaWords } from "../test/harness/upstreams/media-words.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "4300" } } });
const fake = await startFakeUpstreams({ port: Number(values.port) });

const providers = [
  { id: "fake-openai", kind: "openai-compatible", base_url: fake.openAiUrl, model: "gpt-5-mini" },
  { id: "fake-anthropic", kind: "anthropic", base_url: fake.anthropicUrl, model: "claude-sonnet-4-5" },
  { id: "fake-google", kind: "google", base_url: fake.geminiUrl, model: "gemini-2.5-flash" },
];

const falProvider = { id: "fake-fal", kind: "fal", base_url: fake.falUrl };

/** Models other than chat, with prices. */
const media = [
  {
    ...describe("fake-image", "image", ["text_to_image", "image_to_image"], "fake-fal/fake/image"),
    limits: { sizes: ["512x512", "1024x1024"], max_n: 4, max_input_images: 4 },
    price: { billing_type: "per_call", unit: "image", price: "0.03" },
  },
  {
    ...describe("fake-sketch", "image", ["text_to_image", "image_to_image"], "fake-openai/gpt-image-2"),
    limits: { sizes: ["512x512", "1024x1024"], max_n: 4, max_input_images: 4 },
    price: { billing_type: "per_call", unit: "image", price: "0.04" },
  },
  {
    ...describe("fake-video", "video", ["text_to_video", "image_to_video"], "fake-fal/fal-ai/kling-video/v2.5/pro"),
    limits: { durations: [5, 10], aspect_ratios: ["16:9", "9:16"], max_input_images: 1 },
    price: { billing_type: "duration", unit: "second", price: "0.1" },
  },
  {
    ...describe("fake-avatar", "avatar", ["audio_driven_avatar"], "fake-fal/fake/avatar"),
    limits: { aspect_ratios: ["16:9", "9:16"] },
    price: { billing_type: "duration", unit: "second", price: "0.1" },
  },
  {
    ...describe("fake-voice", "speech", ["text_to_speech"], "fake-openai/gpt-4o-mini-tts"),
    limits: { voices: ["alloy", "nova"], response_formats: ["mp3"] },
    price: { billing_type: "per_call", unit: "1K characters", price: "0.015" },
  },
];

function describe(id: string, type: string, capabilities: readonly string[], target: string) {
  const [provider = "", ...model] = target.split("/");
  return {
    id,
    name: `A model of ${provider}`,
    type,
    capabilities,
    routes: [{ provider, upstream_model: model.join("/") }],
  };
}

const catalog = {
  currency: "USD",
  providers: [...providers, falProvider].map(({ id, kind, base_url }) => ({
    id,
    kind,
    base_url,
    api_keys: ["${FAKE_UPSTREAM_KEY}"],
  })),
  models: [
    ...providers.map(({ id, model }) => ({
      id: `${id}-chat`,
      name: `A chat model of ${id}`,
      type: "chat",
      capabilities: ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"],
      limits: { context_window: 128_000, max_output_tokens: 16_384 },
      routes: [{ provider: id, upstream_model: model }],
    })),
    ...media.map(({ price: _, ...model }) => model),
  ],
  prices: [
    ...providers.map(({ id }) => ({
      model: `${id}-chat`,
      billing_type: "token",
      unit: "1K tokens",
      input_price: "0.00015",
      cached_input_price: "0.000075",
      output_price: "0.0006",
    })),
    ...media.map(({ id, price }) => ({ model: id, ...price })),
  ],
};

for (const { kind, base_url } of [...providers, falProvider]) console.log(`# ${kind.padEnd(18)} ${base_url}`);
console.log(`\n${stringify(catalog)}`);
console.log("# Put one of these in a prompt to simulate a fault, for example: Hello <<fault:cut=2>>");
for (const { word, means } of faultWords) console.log(`#   ${`<<fault:${word}>>`.padEnd(44)} ${means}`);
console.log("# For images, videos and speech:");
for (const { word, means } of mediaWords) console.log(`#   ${`<<fault:${word}>>`.padEnd(44)} ${means}`);
