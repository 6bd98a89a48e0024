import { changeTempo } from "./change-tempo.ts";
import { resample } from "./resample.ts";
import { splitSentences } from "./split-sentences.ts";
import { findVoice, guessLanguage, type Voice } from "./voices.ts";

/** The sample rate of all speech: 16 bits, one channel. */
export const speechRate = 24_000;

export type SpeechOrder = { text: string; voice: string; speed: number };

/** `shareAfter` is the share of the text spoken after this part: 1 after the last. */
export type SpokenPart = { samples: Int16Array; shareAfter: number };

/** The part of the synthesizer's interface that we use. */
type Synthesizer = {
  set_voice(name: string): number;
  set_rate(wordsPerMinute: number): void;
  set_pitch(pitch: number): void;
  set_range(range: number): void;
  get_samplerate(): number;
  synthesize(text: string, hear: (audio: ArrayBufferView | ArrayBuffer | null) => void): void;
};

const wordsPerMinute = 172;
/** The synthesizer's own speed range; beyond it the audio is stretched. */
const spokenSpeedMin = 0.6;
const spokenSpeedMax = 2.2;
const pauseSeconds = 0.12;
const silenceSeconds = 0.25;

/** Speaks a text part by part. Blocks its thread, so it must run in its own process. */
export async function* speakText({ text, voice, speed }: SpeechOrder): AsyncGenerator<SpokenPart> {
  const manner = findVoice(voice);
  if (manner === null) throw new Error(`There is no voice ${voice}.`);
  const synthesizer = await loadSynthesizer();
  const spokenSpeed = Math.min(spokenSpeedMax, Math.max(spokenSpeedMin, speed));
  const parts = splitSentences(text);
  // A text without letters becomes a moment of silence, not an empty file.
  if (parts.length === 0) yield { samples: new Int16Array(speechRate * silenceSeconds), shareAfter: 1 };
  const characters = parts.reduce((sum, part) => sum + part.length, 0);
  let said = 0;
  for (const [index, part] of parts.entries()) {
    const rate = synthesizer.get_samplerate();
    const spoken = changeTempo(
      trimSilence(say(synthesizer, part, { manner, spokenSpeed }), rate),
      speed / spokenSpeed,
      rate,
    );
    const pause = index === parts.length - 1 ? 0 : Math.round((pauseSeconds * speechRate) / speed);
    const samples = resample(spoken, rate, speechRate);
    const whole = new Int16Array(samples.length + pause);
    whole.set(samples);
    said += part.length;
    yield { samples: whole, shareAfter: said / characters };
  }
}

async function loadSynthesizer(): Promise<Synthesizer> {
  // Imported by name, because it is optional and has no types.
  const name = "@echogarden/espeak-ng-emscripten";
  const { default: load } = (await import(name)) as { default(): Promise<{ eSpeakNGWorker: new () => Synthesizer }> };
  const { eSpeakNGWorker: Worker } = await load();
  // Some voices tremble randomly, seeded with the time. Fixed for determinism; this process needs no clock.
  Date.now = () => 0;
  return new Worker();
}

type Saying = { manner: Voice; spokenSpeed: number };

function say(synthesizer: Synthesizer, text: string, { manner, spokenSpeed }: Saying): Int16Array {
  synthesizer.set_voice(`${guessLanguage(text)}+${manner.variant}`);
  synthesizer.set_rate(Math.round(wordsPerMinute * spokenSpeed));
  synthesizer.set_pitch(manner.pitch);
  synthesizer.set_range(manner.range);
  return synthesize(synthesizer, text);
}

function synthesize(synthesizer: Synthesizer, text: string): Int16Array {
  const chunks: Int16Array[] = [];
  synthesizer.synthesize(text, (audio) => {
    if (audio === null || audio.byteLength === 0) return;
    const bytes = ArrayBuffer.isView(audio) ? audio : new Uint8Array(audio);
    chunks.push(
      new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer),
    );
  });
  const whole = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Shortens the synthesizer's long pause after each text, by the speed. */
function trimSilence(samples: Int16Array, rate: number): Int16Array {
  let end = samples.length;
  while (end > 0 && Math.abs(samples[end - 1] ?? 0) < 60) end -= 1;
  return samples.subarray(0, Math.min(samples.length, end + Math.round(rate * 0.18)));
}
