import type {
  Logprob,
  SpeakerSegment,
  Transcript,
  TranscriptSegment,
  TranscriptUsage,
  TranscriptWord,
} from "../transcription.ts";
import { asRecord, type JsonRecord } from "./json-value.ts";

const tokensMax = 1_000_000_000;

/** A transcript in our format with known fields only; `null` if it is not a transcript. */
export function readTranscript(body: unknown): Transcript | null {
  const record = asRecord(body);
  if (record === null || typeof record.text !== "string") return null;
  const segments = readList(record.segments);
  return {
    text: record.text.trim(),
    language: typeof record.language === "string" && record.language !== "" ? record.language : null,
    segments: segments.flatMap((segment, index) => readSegment(segment, index) ?? []),
    words: readList(record.words).flatMap((word) => readWord(word) ?? []),
    speakers: segments.flatMap((segment, index) => readSpeaker(segment, index) ?? []),
    logprobs: Array.isArray(record.logprobs) ? readLogprobs(record.logprobs) : null,
    usage: readTranscriptUsage(record.usage),
  };
}

function readList(value: unknown): JsonRecord[] {
  return (Array.isArray(value) ? value : []).map(asRecord).filter((item) => item !== null);
}

function readSegment(segment: JsonRecord, index: number): TranscriptSegment | null {
  const { start, end, text } = segment;
  if (!isNumber(start) || !isNumber(end) || typeof text !== "string" || typeof segment.speaker === "string")
    return null;
  return {
    id: isNumber(segment.id) ? segment.id : index,
    seek: readNumber(segment.seek),
    start,
    end,
    text,
    tokens: Array.isArray(segment.tokens) ? segment.tokens.filter(isNumber) : [],
    temperature: readNumber(segment.temperature),
    avg_logprob: readNumber(segment.avg_logprob),
    compression_ratio: readNumber(segment.compression_ratio),
    no_speech_prob: readNumber(segment.no_speech_prob),
  };
}

function readWord({ word, start, end }: JsonRecord): TranscriptWord | null {
  return typeof word === "string" && isNumber(start) && isNumber(end) ? { word, start, end } : null;
}

export function readSpeaker(segment: JsonRecord, index: number): SpeakerSegment | null {
  const { id, start, end, text, speaker } = segment;
  if (!isNumber(start) || !isNumber(end) || typeof text !== "string" || typeof speaker !== "string") return null;
  return { id: typeof id === "string" ? id : `seg_${index}`, start, end, speaker, text };
}

export function readLogprobs(value: unknown): Logprob[] {
  return readList(value).flatMap(({ token, logprob, bytes }) =>
    typeof token === "string" && isNumber(logprob)
      ? [{ token, logprob, bytes: Array.isArray(bytes) ? bytes.filter(isNumber) : [...Buffer.from(token)] }]
      : [],
  );
}

/**
 * Token usage, if the vendor counts tokens; the length of a recording we know ourselves. Input without a breakdown
 * counts as audio, as nearly all of it is.
 */
export function readTranscriptUsage(value: unknown): TranscriptUsage | null {
  const usage = asRecord(value);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage ?? {};
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  const audioTokens = asRecord(usage?.input_token_details)?.audio_tokens;
  return {
    inputTokens,
    outputTokens,
    audioTokens: Math.min(isCount(audioTokens) ? audioTokens : inputTokens, inputTokens),
  };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= tokensMax;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function readNumber(value: unknown): number {
  return isNumber(value) ? value : 0;
}
