import type { SpeakerSegment, TranscriptSegment } from "../transcription.ts";

/** A word with its time in seconds, and who said it. */
export type SpokenWord = { word: string; start: number; end: number; speaker: string };

const pauseSeconds = 0.8;
const segmentSecondsMax = 15;

/** Splits words into sentences, at pauses and where the speaker changes, for vendors that have only words. */
export function groupWords(words: readonly SpokenWord[]): SpokenWord[][] {
  const groups: SpokenWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    const [first, last] = [group?.[0], group?.at(-1)];
    const isNext =
      first === undefined ||
      last === undefined ||
      last.speaker !== word.speaker ||
      word.start - last.end >= pauseSeconds ||
      word.end - first.start > segmentSecondsMax ||
      /[.?!。？！]$/.test(last.word);
    if (isNext) groups.push([word]);
    else group?.push(word);
  }
  return groups;
}

type Spoken = { start: number; end: number; text: string; speaker: string };

export function describeGroup(words: readonly SpokenWord[]): Spoken {
  const [first, last] = [words[0], words.at(-1)];
  return {
    ...{ start: first?.start ?? 0, end: last?.end ?? 0 },
    ...{ text: words.map(({ word }) => word).join(" "), speaker: first?.speaker ?? "" },
  };
}

/** OpenAI's segment, without the figures that only its own models have. */
export function presentSegment({ start, end, text }: Spoken, id: number): TranscriptSegment {
  const unknown = { tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 };
  return { id, seek: 0, start, end, text, ...unknown };
}

export function presentSpeaker({ start, end, text, speaker }: Spoken, id: number): SpeakerSegment {
  return { id: `seg_${id}`, start, end, speaker, text };
}
