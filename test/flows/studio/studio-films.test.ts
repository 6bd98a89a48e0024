// @module-tag extended
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { expect, test } from "vitest";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";
import { analyseSpeech } from "../../harness/media/analyse-speech.ts";
import { drawPortrait } from "../../harness/media/portrait.ts";
import {
  compareBytes,
  createCall,
  createInput,
  openTestStudio,
  probe,
  readFrames,
  readSamples,
  studioMsMax,
  type TestStudio,
} from "../../harness/media/test-studio.ts";

/** A frame takes longer than this to draw. */
const lookEveryMs = 5;

const film = { type: "video", prompt: "A boat at sunset", durationSeconds: 2, aspectRatio: "16:9" } as const;

function findStream({ streams }: Awaited<ReturnType<typeof probe>>, type: string) {
  return streams.find((stream) => stream.codec_type === type);
}

async function speak(studio: TestStudio, text: string): Promise<Buffer> {
  const [audio = Buffer.alloc(0)] = await studio.make({ type: "speech", text, voice: "nova", format: "wav", speed: 1 });
  return audio;
}

/** Runs a request and records its progress. */
async function watchMaking(studio: TestStudio): Promise<{ bytes: Buffer; progress: number[] }> {
  const call = createCall(film);
  const outcome = await studio.generation.submit(call);
  const handle = outcome.kind === "accepted" ? outcome.handle : {};
  const progress: number[] = [];
  for (;;) {
    const state = await studio.generation.poll(handle, call);
    if (state.kind === "done" && state.outputs[0] !== undefined)
      return { progress, bytes: await buffer(await state.outputs[0].open(call.signal)) };
    if (state.kind !== "running") throw new Error(`It ended as ${state.kind}`);
    if (state.progress !== null && state.progress !== progress.at(-1)) progress.push(state.progress);
    await wait(lookEveryMs);
  }
}

test.each([
  ["16:9", 1280, 720, 2],
  ["9:16", 720, 1280, 1],
  ["1:1", 960, 960, 1],
] as const)(
  "a video of %s is %i × %i, has the requested length and sound, and is playable while downloading",
  { timeout: studioMsMax },
  async (aspectRatio, width, height, durationSeconds) => {
    await using studio = await openTestStudio();
    const [bytes = Buffer.alloc(0)] = await studio.make({ ...film, aspectRatio, durationSeconds });
    const found = await probe(await studio.keep(bytes, "film.mp4"), "mov");
    const frames = String(durationSeconds * 24);
    expect(findStream(found, "video")).toMatchObject({
      codec_name: "h264",
      pix_fmt: "yuv420p",
      width,
      height,
      nb_read_frames: frames,
    });
    expect(findStream(found, "audio")).toMatchObject({ codec_name: "aac", channels: 2 });
    expect(Math.abs(Number(found.format.duration) - durationSeconds)).toBeLessThan(1 / 24);
    // The index comes before the media data.
    expect(bytes.indexOf("moov")).toBeGreaterThan(0);
    expect(bytes.indexOf("moov")).toBeLessThan(bytes.indexOf("mdat"));
    expect(bytes.includes("Lavf")).toBe(false);
  },
);

test("a video moves from beginning to end, and has sound; its progress only grows with the frames", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const { bytes, progress } = await watchMaking(studio);
  expect(progress).toEqual(progress.toSorted((one, other) => one - other));
  expect(progress.length).toBeGreaterThan(10);
  expect(progress.every((percent) => Number.isInteger(percent) && percent >= 0 && percent < 100)).toBe(true);
  const path = await studio.keep(bytes, "film.mp4");
  const frames = await readFrames(path, 4);
  expect(frames.length).toBeGreaterThanOrEqual(8);
  for (const [index, frame] of frames.slice(1).entries()) {
    expect(compareBytes(frame, frames[index] ?? Buffer.alloc(0)), `between ${index} and ${index + 1}`).toBeGreaterThan(
      0.4,
    );
  }
  const { levelDb } = analyseSpeech(await readSamples(path, "mov"));
  expect(levelDb).toBeGreaterThan(-35);
  expect(levelDb).toBeLessThan(-6);
});

test("the same request gives the same video, byte for byte", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const [[one = Buffer.alloc(0)], [other = Buffer.alloc(1)]] = await Promise.all([
    studio.make({ ...film, durationSeconds: 1 }),
    studio.make({ ...film, durationSeconds: 1 }),
  ]);
  expect(one.equals(other)).toBe(true);
});

test("a video of an image shows that image, and the camera moves over it", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const photo = await drawPortrait(1280, 720);
  const [bytes = Buffer.alloc(0)] = await studio.make({ ...film, durationSeconds: 1 }, [
    createInput("image", photo, "image/png"),
  ]);
  const frames = await readFrames(await studio.keep(bytes, "film.mp4"), 12);
  const still = await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    args: [
      "-f",
      "image2pipe",
      "-c:v",
      "png",
      "-i",
      "pipe:0",
      "-vf",
      "scale=64:64,format=gray",
      "-f",
      "rawvideo",
      "pipe:1",
    ],
    input: photo,
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    stdoutBytesMax: 4096,
  });
  const likeness = frames.map((frame) => compareBytes(frame, still.stdout));
  expect(Math.min(...likeness)).toBeLessThan(22);
  expect(compareBytes(frames[0] ?? Buffer.alloc(0), frames.at(-1) ?? Buffer.alloc(0))).toBeGreaterThan(4);
});

test("an avatar shows the person and speaks the audio, for exactly its length", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const voice = await speak(studio, "Hello there, I am the avatar.");
  const spoken = analyseSpeech(await readSamples(await studio.keep(voice, "voice.wav"), "wav"));
  const inputs = [
    createInput("person", await drawPortrait(600, 800), "image/png"),
    createInput("audio", voice, "audio/wav"),
  ];
  const [bytes = Buffer.alloc(0)] = await studio.make({ type: "avatar", aspectRatio: "9:16" }, inputs);
  const path = await studio.keep(bytes, "avatar.mp4");
  const found = await probe(path, "mov");
  expect(findStream(found, "video")).toMatchObject({ codec_name: "h264", width: 720, height: 1280 });
  expect(Math.abs(Number(found.format.duration) - spoken.seconds)).toBeLessThan(2 / 24);
  const heard = analyseSpeech(await readSamples(path, "mov"));
  expect(Math.abs(heard.levelDb - spoken.levelDb)).toBeLessThan(1.5);
  expect(Math.abs(heard.voicedShare - spoken.voicedShare)).toBeLessThan(0.12);
});

test("an avatar's face and lower edge follow the voice: in silence only the camera moves", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const person = createInput("person", await drawPortrait(960, 960), "image/png");
  const voice = await speak(studio, "One two three four five six.");
  const silence = Buffer.from(voice);
  silence.fill(0, 44);
  const move = async (audio: Buffer, name: string): Promise<{ face: number; foot: number }> => {
    const [bytes = Buffer.alloc(0)] = await studio.make({ type: "avatar", aspectRatio: "1:1" }, [
      person,
      createInput("audio", audio, "audio/wav"),
    ]);
    const frames = await readFrames(await studio.keep(bytes, name), 24);
    const between = (from: number, to: number): number =>
      frames
        .slice(1)
        .reduce(
          (sum, frame, index) =>
            sum +
            compareBytes(frame.subarray(from * 64, to * 64), frames[index]?.subarray(from * 64, to * 64) ?? frame),
          0,
        );
    return { face: between(24, 44), foot: between(50, 64) };
  };
  const [loud, quiet] = [await move(voice, "loud.mp4"), await move(silence, "quiet.mp4")];
  expect(loud.face).toBeGreaterThan(quiet.face * 1.15);
  expect(loud.foot).toBeGreaterThan(quiet.foot * 1.5);
});

test("a video of the person repeats until the voice ends", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const [walk = Buffer.alloc(0)] = await studio.make({ ...film, durationSeconds: 1 });
  const voice = await speak(studio, "This takes longer than the film, so it is repeated.");
  const seconds = (voice.length - 44) / 48_000;
  const inputs = [createInput("person", walk, "video/mp4"), createInput("audio", voice, "audio/wav")];
  const [bytes = Buffer.alloc(0)] = await studio.make({ type: "avatar", aspectRatio: "16:9" }, inputs);
  const found = await probe(await studio.keep(bytes, "avatar.mp4"), "mov");
  expect(seconds).toBeGreaterThan(2);
  expect(Math.abs(Number(found.format.duration) - seconds)).toBeLessThan(2 / 24);
});

test.each([
  ["an image as voice", "audio", "image/png", null],
  ["bytes that are not audio", "audio", "audio/mpeg", null],
  ["bytes that are not an image", "person", "image/png", null],
  ["an image without a face", "person", "image/png", { r: 70, g: 110, b: 90 }],
] as const)(
  "%s is refused as an invalid input",
  { timeout: studioMsMax },
  async (_name, role, contentType, background) => {
    await using studio = await openTestStudio();
    const plain = (colour: { r: number; g: number; b: number }) =>
      sharp({ create: { width: 400, height: 400, channels: 3, background: colour } })
        .png()
        .toBuffer();
    const bytes = background === null ? Buffer.from("no such thing") : await plain(background);
    const good = [
      createInput("person", await drawPortrait(256, 256), "image/png"),
      createInput("audio", await speak(studio, "Hello."), "audio/wav"),
    ];
    const inputs = [...good.filter((input) => input.role !== role), createInput(role, bytes, contentType)];
    const end = await studio.finish(createCall({ type: "avatar", aspectRatio: "1:1" }, inputs));
    const param = role === "audio" ? "audio_file_id" : "avatar_file_id";
    expect(end).toMatchObject({ kind: "failed", error: { kind: "rejected", param } });
  },
);
