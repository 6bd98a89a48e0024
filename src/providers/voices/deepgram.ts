import type { SpeechVendor } from "./speech-vendor.ts";

/** Deepgram Aura. A voice is a model there, such as `aura-2-thalia-en`: routes map ours in `voices`. */
export const deepgram: SpeechVendor = {
  baseUrl: "https://api.deepgram.com/v1",
  auth: { name: "authorization", prefix: "Token " },
  keyPath: "projects",
  path: "speak?model={voice}&encoding={format}",
  fields: {
    input: "text",
    voice: "voice",
    response_format: { field: "format", values: { mp3: "mp3", opus: "opus", flac: "flac", aac: "aac" } },
  },
  kinds: [
    [/^INVALID_AUTH/, "key-refused"],
    [/^(?:ASR_PAYMENT_REQUIRED|INSUFFICIENT_PERMISSIONS)/, "out-of-credit"],
    [/^TOO_MANY_REQUESTS/, "rate-limited"],
  ],
};
