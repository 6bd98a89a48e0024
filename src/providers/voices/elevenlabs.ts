import type { SpeechVendor } from "./speech-vendor.ts";

/** ElevenLabs. The voice is an id of the vendor's library: routes map ours in `voices`. */
export const elevenlabs: SpeechVendor = {
  baseUrl: "https://api.elevenlabs.io/v1",
  auth: { name: "xi-api-key", prefix: "" },
  keyPath: "user",
  // Only whole files can be WAV.
  path: ({ format }) =>
    `text-to-speech/{voice}${String(format).startsWith("wav") ? "" : "/stream"}?output_format={format}`,
  modelField: "model_id",
  fields: {
    input: "text",
    voice: "voice",
    response_format: {
      field: "format",
      values: { mp3: "mp3_44100_128", opus: "opus_48000_128", pcm: "pcm_24000", wav: "wav_24000" },
    },
    speed: "voice_settings.speed",
  },
  kinds: [
    [/^quota_exceeded/, "out-of-credit"],
    [/^(?:invalid_api_key|needs_authorization|missing_permissions)/, "key-refused"],
    [/^(?:too_many_concurrent_requests|system_busy)/, "rate-limited"],
    [/^voice_not_found/, "model-unavailable"],
    [/^(?:content_against_policy|detected_unusual_activity)/, "content-refused"],
  ],
};
