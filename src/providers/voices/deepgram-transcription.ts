import { asRecord, type JsonRecord } from "../openai-compatible/json-value.ts";
import { readWholeFile } from "../openai-compatible/write-multipart.ts";
import { deepgram } from "./deepgram.ts";
import { describeGroup, groupWords, presentSegment, presentSpeaker } from "./spoken-words.ts";
import type { TranscriptionVendor } from "./transcription-vendor.ts";

/** Deepgram's recordings: the file is the body, and the options are in the query. */
export const deepgramTranscription: TranscriptionVendor = {
  ...deepgram,
  takes: new Set(["language"]),
  write({ request: { language, isDiarized }, recording, upstreamModel }) {
    const query = new URLSearchParams({
      ...{ model: upstreamModel, smart_format: "true" },
      ...(language === null ? { detect_language: "true" } : { language }),
      ...(isDiarized ? { diarize: "true" } : {}),
    });
    const { contentType, bytes } = recording;
    return { path: `listen?${query}`, contentType, bytes, body: readWholeFile(recording) };
  },
  read(body, { language, isDiarized }) {
    const [channel] = listRecords(asRecord(asRecord(body)?.results)?.channels);
    const [best] = listRecords(channel?.alternatives);
    if (typeof best?.transcript !== "string") return null;
    const words = listRecords(best.words).flatMap(({ word, punctuated_word: shown, start, end, speaker }) =>
      typeof word === "string" && typeof start === "number" && typeof end === "number"
        ? [{ word: typeof shown === "string" ? shown : word, start, end, speaker: `speaker_${speaker ?? 0}` }]
        : [],
    );
    const groups = groupWords(words).map(describeGroup);
    return {
      text: best.transcript.trim(),
      language: typeof channel?.detected_language === "string" ? channel.detected_language : language,
      segments: groups.map(presentSegment),
      words: words.map(({ word, start, end }) => ({ word, start, end })),
      speakers: isDiarized ? groups.map(presentSpeaker) : [],
      logprobs: null,
      usage: null,
    };
  },
};

function listRecords(value: unknown): JsonRecord[] {
  return (Array.isArray(value) ? value : []).map(asRecord).filter((item) => item !== null);
}
