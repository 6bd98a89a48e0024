import type { SpeechVendor } from "./speech-vendor.ts";

/** Deepgram Aura. A voice is a model there, such as `aura-2-thalia-en`: routes map ours in `voices`. */
export const deepgram: SpeechVendor = {
  baseUrl: "https://api.deepgram.com/v1",
  auth: { name: "authorization", prefix: "Token " },
  keyPath: "projects",
  path: "speak?model={voice}&encoding={format}&speed={speed}",
  fields: {
    input: "text",
    voice: "voice",
    response_format: { field: "format", values: { mp3: "mp3", opus: "opus", flac: "flac", aac: "aac" } },
    speed: "speed",
  },
  kinds: [
    [/^INVALID_AUTH/, "key-refused"],
    [/^INSUFFICIENT_PERMISSIONS/, "key-refused"],
    [/^ASR_PAYMENT_REQUIRED/, "out-of-credit"],
    [/^TOO_MANY_REQUESTS/, "rate-limited"],
  ],
};
