import type { SpeechVendor } from "./speech-vendor.ts";

/** xAI's text to speech. */
export const xaiSpeech: SpeechVendor = {
  baseUrl: "https://api.x.ai/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  keyPath: "models",
  path: "tts",
  fixed: { language: "auto" },
  fields: {
    input: "text",
    voice: "voice_id",
    response_format: { field: "output_format.codec", values: { mp3: "mp3", wav: "wav", pcm: "pcm" } },
    speed: "speed",
  },
  // OpenAI's sample rate: players of raw audio expect it.
  arrange: ({ output_format: format, ...rest }) => ({
    ...rest,
    output_format: { sample_rate: 24_000, ...(format as object) },
  }),
};
