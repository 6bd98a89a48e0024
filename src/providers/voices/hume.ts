import type { SpeechVendor } from "./speech-vendor.ts";

/** Hume's Octave. The voice is a name of the vendor's library: routes map ours in `voices`. */
export const hume: SpeechVendor = {
  baseUrl: "https://api.hume.ai/v0",
  auth: { name: "x-hume-api-key", prefix: "" },
  keyPath: "tts/voices?provider=HUME_AI",
  path: "tts/file",
  fields: {
    input: "text",
    voice: "voice",
    response_format: { field: "format", values: { mp3: "mp3", wav: "wav", pcm: "pcm" } },
    speed: "speed",
    instructions: "description",
  },
  arrange: ({ text, voice, format, speed, description, ...rest }) => ({
    ...rest,
    utterances: [
      {
        text,
        voice: { name: voice, provider: "HUME_AI" },
        ...(speed === undefined ? {} : { speed }),
        ...(description === undefined ? {} : { description }),
      },
    ],
    format: { type: format },
  }),
};
