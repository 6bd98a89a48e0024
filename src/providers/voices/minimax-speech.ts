import type { SpeechVendor } from "./speech-vendor.ts";

/** MiniMax's T2A v2. */
export const minimaxSpeech: SpeechVendor = {
  baseUrl: "https://api.minimax.io/v1",
  auth: { name: "authorization", prefix: "Bearer " },
  path: "t2a_v2",
  modelField: "model",
  fixed: { stream: false, output_format: "hex" },
  fields: {
    input: "text",
    voice: "voice_setting.voice_id",
    response_format: {
      field: "audio_setting.format",
      values: { mp3: "mp3", pcm: "pcm", flac: "flac", wav: "wav" },
    },
    speed: "voice_setting.speed",
  },
  // OpenAI's sample rate: players of raw audio expect it.
  arrange: ({ audio_setting: audio, ...rest }) => ({
    ...rest,
    audio_setting: { sample_rate: 24_000, channel: 1, ...(audio as object) },
  }),
  encoded: { at: "data.audio", as: "hex" },
  fault: { code: "base_resp.status_code", message: "base_resp.status_msg", fine: [0] },
  kinds: [
    [/^1001$/, "timeout"],
    [/^(?:1002|1039)$/, "rate-limited"],
    [/^(?:1004|2049)$/, "key-refused"],
    [/^1008$/, "out-of-credit"],
    [/^102[67]$/, "content-refused"],
    [/^(?:2013|1042)$/, "rejected"],
    [/^10(?:00|13|24|33)$/, "overloaded"],
  ],
};
