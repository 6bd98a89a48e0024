import { asRecord } from "../openai-compatible/json-value.ts";
import { writeMultipart } from "../openai-compatible/write-multipart.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { describeGroup, groupWords, presentSegment, presentSpeaker } from "./spoken-words.ts";
import type { TranscriptionVendor } from "./transcription-vendor.ts";

/** ElevenLabs Scribe: a form with the file. Between its words are spaces and sounds, which have a type of their own. */
export const elevenlabsTranscription: TranscriptionVendor = {
  ...elevenlabs,
  takes: new Set(["language", "temperature"]),
  write({ request: { language, temperature, isDiarized }, recording, upstreamModel }) {
    const fields = {
      ...{ model_id: upstreamModel, timestamps_granularity: "word", tag_audio_events: "false" },
      ...(language === null ? {} : { language_code: language }),
      ...(temperature === null ? {} : { temperature: String(temperature) }),
      ...(isDiarized ? { diarize: "true" } : {}),
    };
    const form = writeMultipart(fields, [{ name: "file", filename: "audio", ...recording }]);
    return { path: "speech-to-text", contentType: form.contentType, bytes: form.length, body: form.body };
  },
  read(body, { isDiarized }) {
    const { text, language_code: language, words: listed } = asRecord(body) ?? {};
    if (typeof text !== "string") return null;
    const words = (Array.isArray(listed) ? listed : []).map(asRecord).flatMap((item) => {
      const { text: word, start, end, type, speaker_id: speaker } = item ?? {};
      if (type !== "word" || typeof word !== "string" || typeof start !== "number" || typeof end !== "number")
        return [];
      return [{ word, start, end, speaker: typeof speaker === "string" ? speaker : "speaker_0" }];
    });
    const groups = groupWords(words).map(describeGroup);
    return {
      text: text.trim(),
      language: typeof language === "string" ? language : null,
      segments: groups.map(presentSegment),
      words: words.map(({ word, start, end }) => ({ word, start, end })),
      speakers: isDiarized ? groups.map(presentSpeaker) : [],
      logprobs: null,
      usage: null,
    };
  },
};
