import type { SpeechVendor } from "./speech-vendor.ts";

/** Mistral's Voxtral TTS. The sample rate of its `pcm` is not documented, so it is not offered. */
export const mistralSpeech: SpeechVendor = {
  baseUrl: "https://api.mistral.ai/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  keyPath: "models",
  path: "audio/speech",
  modelField: "model",
  fixed: { stream: false },
  fields: {
    input: "input",
    voice: "voice_id",
    response_format: {
      field: "response_format",
      values: { mp3: "mp3", wav: "wav", flac: "flac", opus: "opus" },
    },
  },
  encoded: { at: "audio_data", as: "base64" },
};
