// @module-tag extended
import { expect, test } from "vitest";
import type { AudioFormat, SpeechCall } from "../../../src/providers/generation.ts";
import { listChildren } from "../../harness/list-children.ts";
import { analyseSpeech } from "../../harness/media/analyse-speech.ts";
import {
  createCall,
  openTestStudio,
  probe,
  readSamples,
  studioMsMax,
  type TestStudio,
} from "../../harness/media/test-studio.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const sentence = "The quick brown fox jumps over the lazy dog.";
const long = "This is a sentence of the long text, and it goes on for a while. ".repeat(30);

function createSpeechCall(
  text: string,
  rest: { voice?: string; format?: AudioFormat; speed?: number } = {},
): SpeechCall {
  const request = { type: "speech", text, voice: "nova", format: "pcm", speed: 1, ...rest } as const;
  return { ...createCall(request), request };
}

async function listen(studio: TestStudio, call: SpeechCall): Promise<Buffer> {
  const { chunks } = await studio.speech.startSpeech(call);
  return Buffer.concat(await Array.fromAsync(chunks));
}

function toSamples(pcm: Buffer): Int16Array {
  return new Int16Array(new Uint8Array(pcm).buffer);
}

test("speech is audible: its level, its share of sound and its share of voice are those of speech", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const spoken = analyseSpeech(toSamples(await listen(studio, createSpeechCall(sentence))));
  expect(spoken.seconds).toBeGreaterThan(1.5);
  expect(spoken.seconds).toBeLessThan(5);
  expect(spoken.levelDb).toBeGreaterThan(-32);
  expect(spoken.heardShare).toBeGreaterThan(0.6);
  expect(spoken.voicedShare).toBeGreaterThan(0.5);
  const noise = Int16Array.from({ length: 48_000 }, (_, index) => Math.sin(index * index * 0.37) * 9000);
  expect(analyseSpeech(noise).voicedShare).toBeLessThan(0.3);
});

test("voices differ in pitch", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const pitches: number[] = [];
  for (const voice of ["onyx", "echo", "alloy", "nova"]) {
    pitches.push(analyseSpeech(toSamples(await listen(studio, createSpeechCall(sentence, { voice })))).pitchHz);
  }
  for (const [index, pitch] of pitches.slice(1).entries())
    expect(pitch, pitches.join(" ")).toBeGreaterThan((pitches[index] ?? 0) * 1.08);
});

test("the speed changes the duration, but not the pitch", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const analyse = async (speed: number) =>
    analyseSpeech(toSamples(await listen(studio, createSpeechCall(sentence, { speed }))));
  const usual = await analyse(1);
  for (const speed of [0.25, 0.5, 2, 4]) {
    const { seconds, pitchHz, voicedShare } = await analyse(speed);
    expect(seconds / (usual.seconds / speed), `at ${speed}`).toBeGreaterThan(0.75);
    expect(seconds / (usual.seconds / speed), `at ${speed}`).toBeLessThan(1.3);
    expect(pitchHz / usual.pitchHz, `at ${speed}`).toBeGreaterThan(0.75);
    expect(pitchHz / usual.pitchHz, `at ${speed}`).toBeLessThan(1.3);
    expect(voicedShare).toBeGreaterThan(0.35);
  }
});

test.each([
  ["Chinese", "你好，世界。今天天气很好。"],
  ["Japanese", "こんにちは、世界。"],
  ["Arabic", "مرحبا بالعالم"],
  ["Russian", "Привет, мир! Сегодня хорошая погода."],
  ["German", "Guten Tag, das ist ein schöner Tag."],
])("%s is spoken by a voice that supports it", { timeout: studioMsMax }, async (_language, text) => {
  await using studio = await openTestStudio();
  const spoken = analyseSpeech(toSamples(await listen(studio, createSpeechCall(text))));
  // A voice that cannot read a script is silent, or spells each letter.
  expect(spoken.seconds / text.length).toBeGreaterThan(0.04);
  expect(spoken.seconds / text.length).toBeLessThan(0.4);
  expect(spoken.voicedShare).toBeGreaterThan(0.5);
});

test("streamed and as a task, every format can be played and lasts as long", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const { length } = await listen(studio, createSpeechCall(`${sentence} ${sentence}`));
  const seconds = length / 48_000;
  for (const format of ["wav", "mp3"] as const) {
    const call = createSpeechCall(`${sentence} ${sentence}`, { format });
    const [made = Buffer.alloc(0)] = await studio.make(call.request);
    for (const [name, bytes] of [
      ["streamed", await listen(studio, call)],
      ["made", made],
    ] as const) {
      const path = await studio.keep(bytes, `${name}.${format}`);
      const codec = { wav: "pcm_s16le", mp3: "mp3" }[format];
      expect((await probe(path, format)).streams[0]).toMatchObject({
        codec_name: codec,
        sample_rate: "24000",
        channels: 1,
      });
      const samples = await readSamples(path, format);
      expect(Math.abs(samples.length / 24_000 - seconds), `${name} ${format}`).toBeLessThan(0.12);
    }
    if (format === "wav") expect(made.readUInt32LE(40)).toBe(made.length - 44);
  }
  const [pcm = Buffer.alloc(0)] = await studio.make(createSpeechCall(`${sentence} ${sentence}`).request);
  expect(pcm.length).toBe(length);
});

test.each([
  { format: "opus", demuxer: "ogg", codec: "opus" },
  { format: "aac", demuxer: "aac", codec: "aac" },
  { format: "flac", demuxer: "flac", codec: "flac" },
] as const)("$format can be played and lasts as long", { timeout: studioMsMax }, async ({ format, demuxer, codec }) => {
  await using studio = await openTestStudio();
  const seconds = (await listen(studio, createSpeechCall(sentence))).length / 48_000;
  const call = createSpeechCall(sentence, { format });
  const [made = Buffer.alloc(0)] = await studio.make(call.request);
  for (const bytes of [await listen(studio, call), made]) {
    const path = await studio.keep(bytes, `speech.${demuxer}`);
    expect((await probe(path, demuxer)).streams[0]).toMatchObject({ codec_name: codec, channels: 1 });
    const samples = await readSamples(path, demuxer);
    expect(Math.abs(samples.length / 24_000 - seconds)).toBeLessThan(0.2);
  }
});

test("instructions are refused: the voices cannot follow them", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const call = createSpeechCall(sentence);
  const asked = { ...call, request: { ...call.request, options: { instructions: "Whisper." } } };
  await expect(studio.speech.startSpeech(asked)).rejects.toMatchObject({ kind: "rejected", param: "instructions" });
});

test("the first audio arrives before the whole text was spoken, and progress is reported", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const call = createSpeechCall(long);
  const audio = await studio.speech.startSpeech(call);
  const atFirst = audio.spokenCharacters?.() ?? -1;
  expect(atFirst).toBeGreaterThan(0);
  expect(atFirst).toBeLessThan(long.length / 3);
  let before = 0;
  for await (const chunk of audio.chunks) {
    expect(chunk.length).toBeGreaterThan(0);
    expect(audio.spokenCharacters?.() ?? 0).toBeGreaterThanOrEqual(before);
    before = audio.spokenCharacters?.() ?? 0;
  }
  expect(before).toBe(long.length);
});

test.each(["pcm", "mp3"] as const)(
  "a disconnect ends every process of it: %s",
  { timeout: studioMsMax },
  async (format) => {
    await using studio = await openTestStudio();
    const controller = new AbortController();
    const { chunks } = await studio.speech.startSpeech({
      ...createSpeechCall(long, { format }),
      signal: controller.signal,
    });
    const read = (async () => {
      for await (const chunk of chunks) if (chunk.length > 0) controller.abort(new Error("hung up"));
    })();
    await expect(read).rejects.toThrow("hung up");
    await waitUntil("no process is left", async () => (await listChildren()).length === 0);
  },
);

test("a reader that stops ends every process of it", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const { chunks } = await studio.speech.startSpeech(createSpeechCall(long));
  expect((await listChildren()).length).toBeGreaterThan(0);
  for await (const _chunk of chunks) break;
  await waitUntil("no process is left", async () => (await listChildren()).length === 0);
});

test("the script interrupts speech, refuses it, or makes it empty", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const { chunks } = await studio.speech.startSpeech(createSpeechCall(`${long} [[cut:3]]`));
  let bytes = 0;
  const read = (async () => {
    for await (const chunk of chunks) bytes += chunk.length;
  })();
  await expect(read).rejects.toMatchObject({ kind: "unreachable", isIsolated: true });
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(3 * 8192);
  await expect(studio.speech.startSpeech(createSpeechCall("[[fail:content_policy]] Hello"))).rejects.toMatchObject({
    kind: "content-refused",
  });
  await expect(studio.speech.startSpeech(createSpeechCall("[[429]] Hello"))).rejects.toMatchObject({
    kind: "rate-limited",
    retryAfterMs: 2000,
  });
  await expect(studio.speech.startSpeech({ ...createSpeechCall("[[silent]]"), timeoutMs: 50 })).rejects.toMatchObject({
    kind: "timeout",
  });
  expect(await listen(studio, createSpeechCall("[[empty]] Hello"))).toHaveLength(0);
  await waitUntil("no process is left", async () => (await listChildren()).length === 0);
});

test("words of the script are not spoken, and a text without a letter is a moment of silence", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const plain = await listen(studio, createSpeechCall("Hello you."));
  expect((await listen(studio, createSpeechCall("Hello [[delay:0]] you."))).equals(plain)).toBe(true);
  const silence = await listen(studio, createSpeechCall("…"));
  expect(silence.length).toBe(12_000);
});

test("an unknown voice is refused with its field", async () => {
  await using studio = await openTestStudio();
  await expect(studio.speech.startSpeech(createSpeechCall("Hello", { voice: "constructor" }))).rejects.toMatchObject({
    kind: "rejected",
    param: "voice",
  });
});
