import type { TranscriptSegment, TranscriptWord } from "../../../../src/providers/transcription.ts";
import { splitSentences } from "../studio/speech/split-sentences.ts";

export type TimedText = { segments: TranscriptSegment[]; words: TranscriptWord[] };

/**
 * Estimates when each sentence and word was spoken, from the total length: every letter takes equally long. Accurate to
 * a fraction of a second.
 */
export function timeWords(text: string, durationMs: number): TimedText {
  const sentences = splitSentences(text);
  const letters = sentences.reduce((sum, sentence) => sum + sentence.length, 0);
  const secondsPerLetter = durationMs / 1000 / Math.max(1, letters);
  const timed: TimedText = { segments: [], words: [] };
  let said = 0;
  for (const [id, sentence] of sentences.entries()) {
    const at = (offset: number): number => round((said + offset) * secondsPerLetter);
    for (const { 0: word, index } of sentence.matchAll(/\S+/g)) {
      timed.words.push({ word, start: at(index), end: at(index + word.length) });
    }
    timed.segments.push({ ...plain, id, start: at(0), end: at(sentence.length), text: ` ${sentence}` });
    said += sentence.length;
  }
  return timed;
}

const plain = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
