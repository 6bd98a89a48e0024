import type { SpeechVendor } from "./speech-vendor.ts";

/** LMNT. */
export const lmnt: SpeechVendor = {
  baseUrl: "https://api.lmnt.com/v1",
  auth: { name: "x-api-key", prefix: "" },
  keyPath: "account",
  path: "ai/speech/bytes",
  modelField: "model",
  fixed: { sample_rate: 24_000 },
  fields: {
    input: "text",
    voice: "voice",
    response_format: { field: "format", values: { mp3: "mp3", wav: "wav", aac: "aac", pcm: "pcm_s16le" } },
  },
};
