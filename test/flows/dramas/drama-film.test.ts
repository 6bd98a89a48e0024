// @module-tag extended
import { readFile, writeFile } from "node:fs/promises";
import sharp from "sharp";
import { expect, test } from "vitest";
import {
  averageColour,
  filmMsMax,
  measureContrast,
  measureLevel,
  measureNote,
  openFilmStage,
  quickFilm,
  readCues,
  readImages,
  readLoudness,
} from "../../harness/dramas/film-stage.ts";
import { probe, readSamples } from "../../harness/media/test-studio.ts";

const titleSeconds = 2.5;
const small = { width: 160, height: 90 };
const captionPlace = [0.1, 0.6, 0.9, 0.97] as const;
const aboveCaptions = [0, 0, 1, 0.5] as const;

/** The frame at this second. */
function at<T>(pictures: readonly T[], seconds: number): T {
  const picture = pictures[Math.floor(seconds * 24 + 0.001)];
  if (picture === undefined) throw new Error(`The film ends before ${seconds} s.`);
  return picture;
}

test("a video is H.264 and stereo AAC at 24 frames a second, as large as its largest clip allows and as long as planned", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const film = await stage.assemble({
    shots: [
      await stage.plainShot("red", { lines: [await stage.spokenLine("One.", 1)] }),
      await stage.plainShot("green", { size: "256x144", seconds: 1.5 }),
      await stage.plainShot("blue", { seconds: 0.1 }),
    ],
  });
  const { streams, format } = await probe(film.filmPath, "mov");
  // 0.35 s before and 0.45 s after the line; nothing is shorter than 1.2 s.
  const frames = 60 + Math.ceil(1.8 * 24) + 36 + Math.ceil(1.2 * 24);
  expect(streams.find((stream) => stream.codec_type === "video")).toMatchObject({
    codec_name: "h264",
    pix_fmt: "yuv420p",
    width: 256,
    height: 144,
    r_frame_rate: "24/1",
    avg_frame_rate: "24/1",
    nb_read_frames: String(frames),
    color_space: "bt709",
  });
  expect(streams.find((stream) => stream.codec_type === "audio")).toMatchObject({
    codec_name: "aac",
    sample_rate: "48000",
    channels: 2,
  });
  expect(film.durationMs).toBe(Math.round((frames * 1000) / 24));
  expect(Math.abs(Number(format.duration) - frames / 24)).toBeLessThan(0.1);
  const bytes = await readFile(film.filmPath, "latin1");
  expect(bytes.indexOf("moov")).toBeLessThan(bytes.indexOf("mdat"));
  expect(bytes).not.toMatch(/x264|Lavf|Lavc/);
  expect(film.progress).toEqual(film.progress.toSorted((one, other) => one - other));
  expect(film.progress.length).toBeGreaterThan(6);
  expect(film.progress.at(-1)).toBe(100);
  expect(film.undrawable).toEqual([]);
});

test("captions are centred at the bottom, exactly while their line is spoken, and subtitles match", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const lines = [
    await stage.spokenLine("Who is <there> & why?", 0.8, { speaker: "Ana & Tom" }),
    await stage.spokenLine("Nobody.", 0.5),
  ];
  const film = await stage.assemble({
    shots: [await stage.plainShot("gray", { lines }), await stage.plainShot("gray", { lines: [] })],
  });
  const cues = await readCues(film.subtitlesPath);
  expect(cues.map(({ text }) => text)).toEqual(["<v Ana &amp; Tom>Who is &lt;there&gt; &amp; why?", "Nobody."]);
  const expected = [
    [0.35, 1.15],
    [1.45, 1.95],
  ] as const;
  for (const [index, [start, end]] of expected.entries()) {
    expect(cues[index]?.start).toBeCloseTo(titleSeconds + start, 1);
    expect(cues[index]?.end).toBeCloseTo(titleSeconds + end, 1);
  }
  const pictures = await readImages(film.filmPath, small);
  const seen = pictures.slice(60, -12).map((picture) => measureContrast(picture, captionPlace) > 60);
  const wanted = seen.map((_, index) => {
    const now = titleSeconds + index / 24 + 0.001;
    return cues.some(({ start, end }) => now >= start && now < end);
  });
  expect(seen).toEqual(wanted);
  for (const picture of pictures.slice(72, -12)) expect(measureContrast(picture, aboveCaptions)).toBeLessThan(6);
  const shown = at(pictures, titleSeconds + 0.7);
  expect(measureContrast(shown, [0, 0.6, 0.04, 1])).toBeLessThan(6);
  expect(measureContrast(shown, [0.96, 0.6, 1, 1])).toBeLessThan(6);
});

test("voices play when planned, at the usual loudness, over the clip's own sound, which is ducked below them", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const sounding = [
    "-f",
    "lavfi",
    "-i",
    "color=c=gray:s=64x36:r=24:d=4",
    "-f",
    "lavfi",
    "-i",
    "sine=f=1000:d=4",
    ...quickFilm,
    "-c:a",
    "aac",
  ];
  const clipPath = await stage.make("clip.mp4", sounding);
  // One voice is recorded much louder than the other.
  const loud = await stage.make("loud.wav", ["-f", "lavfi", "-i", "sine=f=300:d=1,volume=17dB"]);
  const quiet = await stage.make("quiet.mp3", [
    "-f",
    "lavfi",
    "-i",
    "sine=f=300:d=1,volume=-6dB",
    "-c:a",
    "libmp3lame",
  ]);
  const lines = [
    { speaker: null, text: "Loud", audio: { path: loud, contentType: "audio/wav" } },
    { speaker: null, text: "Quiet", audio: { path: quiet, contentType: "audio/mpeg" } },
  ];
  const shot = { clipPath, contentType: "video/mp4", seconds: 2, isVoiced: false };
  const film = await stage.assemble({
    shots: [
      { ...shot, lines },
      { ...shot, lines: [] },
    ],
  });
  const { loudness, peakDb } = await readLoudness(film.filmPath);
  expect(Math.abs(loudness + 16)).toBeLessThan(1.5);
  expect(peakDb).toBeLessThanOrEqual(-1.5);
  const samples = await readSamples(film.filmPath, "mov");
  const start = titleSeconds + 0.35;
  const [first, second] = [
    [start + 0.1, start + 0.9],
    [start + 1.5, start + 2.1],
  ] as const;
  const voice = measureNote(samples, 300, ...first);
  expect(voice).toBeGreaterThan(-24);
  expect(Math.abs(measureNote(samples, 300, ...second) - voice)).toBeLessThan(2);
  expect(measureLevel(samples, 0.1, titleSeconds - 0.1)).toBeLessThan(-75);
  const pause = measureNote(samples, 300, start + 1.08, start + 1.22);
  expect(pause).toBeLessThan(voice - 25);
  // The second shot contains only the clip's own sound, as loud as the first was recorded.
  const free = measureNote(samples, 1000, start + 3.3, start + 4);
  expect(free).toBeLessThan(voice - 10);
  expect(free).toBeGreaterThan(voice - 35);
  const ducked = measureNote(samples, 1000, ...first);
  expect(free - ducked).toBeGreaterThan(6);
  expect(free - ducked).toBeLessThan(10);
});

test("a clip with its own speech plays at full level and is neither cut nor slowed down", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const clipPath = await stage.make("avatar.mp4", [
    ...["-f", "lavfi", "-i", "color=c=gray:s=64x36:r=25:d=2.4", "-f", "lavfi", "-i", "sine=f=700:d=2.4"],
    ...[...quickFilm, "-c:a", "aac"],
  ]);
  const lines = [
    await stage.spokenLine("First", 1, { speaker: "A", hertz: 300 }),
    await stage.spokenLine("Second", 1.4, { speaker: "A", hertz: 300 }),
  ];
  const film = await stage.assemble({
    shots: [{ clipPath, contentType: "video/mp4", seconds: 9, isVoiced: true, lines }],
  });
  expect(film.durationMs / 1000).toBeCloseTo(titleSeconds + 2.4, 1);
  const samples = await readSamples(film.filmPath, "mov");
  expect(measureNote(samples, 700, titleSeconds + 0.6, titleSeconds + 1.8)).toBeGreaterThan(-24);
  expect(measureNote(samples, 300, titleSeconds + 0.6, titleSeconds + 1.8)).toBeLessThan(-50);
  const cues = await readCues(film.subtitlesPath);
  expect(cues.map(({ start }) => Math.round((start - titleSeconds) * 10) / 10)).toEqual([0, 1]);
  expect(cues[1]?.end).toBeCloseTo(titleSeconds + 2.4, 1);

  const mute = await stage.plainShot("gray", { isVoiced: true, lines });
  const spoken = await stage.assemble({ shots: [mute] });
  const heard = await readSamples(spoken.filmPath, "mov");
  expect(measureNote(heard, 300, titleSeconds + 0.5, titleSeconds + 1.2)).toBeGreaterThan(-24);
});

test("a clip that is too short is slowed down, then its last frame is held; one that is too long is cut", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  // The clip gets brighter over time, so a frame's brightness gives its time.
  const ramp = (seconds: number): string[] => [
    "-f",
    "lavfi",
    "-i",
    `nullsrc=s=64x36:r=24:d=${seconds},geq=lum='40+N*100/24':cb=128:cr=128`,
  ];
  const clipPath = await stage.make("ramp.mp4", [...ramp(1), ...quickFilm, "-qp", "4"]);
  const longPath = await stage.make("long.mp4", [...ramp(2), ...quickFilm, "-qp", "4"]);
  const shot = { contentType: "video/mp4", isVoiced: false, lines: [] };
  const film = await stage.assemble({
    shots: [
      { ...shot, clipPath, seconds: 1.25 },
      { ...shot, clipPath, seconds: 1.25 },
      { ...shot, clipPath, seconds: 3 },
      { ...shot, clipPath: longPath, seconds: 1.25 },
      await stage.plainShot("black"),
    ],
  });
  const pictures = await readImages(film.filmPath, small);
  const tone = (seconds: number): number => averageColour(at(pictures, seconds))[0];
  // In encoder levels, 40 to 140 of 16 to 235.
  const expectedTone = (clipSeconds: number): number => ((40 + 100 * clipSeconds - 16) * 255) / 219;
  const second = titleSeconds + 1.25;
  expect(Math.abs(tone(second) - expectedTone(0))).toBeLessThan(8);
  expect(Math.abs(tone(second + 1) - expectedTone(0.8))).toBeLessThan(8);
  const third = second + 1.25;
  expect(Math.abs(tone(third + 0.75) - expectedTone(0.5))).toBeLessThan(8);
  expect(Math.abs(tone(third + 2.9) - expectedTone(23 / 24))).toBeLessThan(8);
  expect(tone(third + 1.8)).toBe(tone(third + 2.8));
  const fourth = third + 3;
  expect(Math.abs(tone(fourth + 1.2) - expectedTone(1.2))).toBeLessThan(8);
});

test("clips of every kind are combined into one video", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const colour = (size: string, rate: number, seconds: number): string[] => [
    "-f",
    "lavfi",
    "-i",
    `color=c=0x30a050:s=${size}:r=${rate}:d=${seconds}`,
  ];
  const sound = (source: string): string[] => ["-f", "lavfi", "-i", source];
  const kinds: [kind: string, extension: string, words: string[]][] = [
    ["portrait", "mp4", [...colour("90x160", 24, 1), ...quickFilm]],
    ["one picture a second", "mp4", [...colour("64x36", 1, 3), ...quickFilm]],
    ["120 pictures a second", "mp4", [...colour("64x36", 120, 0.5), ...quickFilm]],
    [
      "8 kHz, one channel",
      "mp4",
      [...colour("64x36", 24, 1), ...sound("sine=d=1:r=8000"), ...quickFilm, "-c:a", "aac", "-ac", "1", "-ar", "8000"],
    ],
    [
      "six channels",
      "mp4",
      [...colour("64x36", 24, 1), ...sound("anoisesrc=d=1:a=0.1"), ...quickFilm, "-c:a", "aac", "-ac", "6"],
    ],
    ["turned", "mp4", [...colour("160x90", 24, 1), ...quickFilm]],
    ["0.2 s", "mp4", [...colour("64x36", 24, 0.2), ...quickFilm]],
    ["10 s", "mp4", [...colour("64x36", 24, 10), ...quickFilm]],
    [
      "finer colours",
      "mp4",
      [...colour("64x36", 24, 1), "-c:v", "libx264", "-pix_fmt", "yuv444p", "-preset", "ultrafast"],
    ],
    [
      "all tones",
      "mp4",
      [...colour("64x36", 24, 1), "-c:v", "libx264", "-pix_fmt", "yuvj420p", "-preset", "ultrafast"],
    ],
    ["wide pixels", "mp4", [...colour("40x45", 24, 1), "-vf", "setsar=2", ...quickFilm]],
    ["odd sides", "mp4", [...colour("65x37", 24, 1), "-c:v", "libx264", "-pix_fmt", "yuv444p"]],
    ["WebM", "webm", [...colour("64x36", 24, 1), ...sound("sine=d=1"), "-c:v", "libvpx", "-c:a", "libvorbis"]],
    ["QuickTime", "mov", [...colour("64x36", 24, 1), "-c:v", "mpeg4"]],
    ["short sound", "mp4", [...colour("64x36", 24, 1), ...sound("sine=d=0.1"), ...quickFilm, "-c:a", "aac"]],
  ];
  const types: Record<string, string> = { mp4: "video/mp4", webm: "video/webm", mov: "video/quicktime" };
  const shots = [];
  for (const [kind, extension, words] of kinds) {
    const clipPath = await stage.make(`clip.${extension}`, words);
    if (kind === "turned") await turnClip(clipPath);
    shots.push({ clipPath, contentType: types[extension] ?? "", seconds: 1.2, isVoiced: false, lines: [] });
  }
  const film = await stage.assemble({
    shots: [await stage.plainShot("gray"), ...shots, await stage.plainShot("gray")],
  });
  const pictures = await readImages(film.filmPath, small);
  expect(pictures).toHaveLength(60 + (kinds.length + 2) * 29);
  for (const [index, [kind]] of kinds.entries()) {
    const middle = pictures[60 + (index + 1) * 29 + 14];
    if (middle === undefined) throw new Error("The film is too short.");
    const [red, green, blue] = averageColour(middle, [0.45, 0.3, 0.55, 0.7]);
    expect(
      [Math.abs(red - 48) < 14, Math.abs(green - 160) < 14, Math.abs(blue - 80) < 14],
      `${kind}: ${red} ${green} ${blue}`,
    ).toEqual([true, true, true]);
    const [, edge] = averageColour(middle, [0, 0.3, 0.1, 0.7]);
    // Portrait clips are shown whole, on a darker copy of themselves.
    const isUpright = kind === "portrait" || kind === "turned";
    expect(edge < 110, `${kind}: ${edge}`).toBe(isUpright);
    expect(edge, kind).toBeGreaterThan(40);
  }
});

/** Sets the rotation metadata to a quarter turn, as phones do. */
async function turnClip(path: string): Promise<void> {
  const bytes = await readFile(path);
  const matrix = [0, 0x10000, 0, 0xffff0000, 0, 0, 90 * 0x10000, 0, 0x40000000];
  for (const [index, value] of matrix.entries()) bytes.writeUInt32BE(value, bytes.indexOf("tkhd") + 44 + index * 4);
  await writeFile(path, bytes);
}

test("inaudible lines stay silent, and lines without a voice are shown for as long as reading takes", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const hiss = [
    "-f",
    "lavfi",
    "-i",
    "color=c=gray:s=64x36:r=24:d=2",
    "-f",
    "lavfi",
    "-i",
    "anoisesrc=d=2:a=0.002",
    ...quickFilm,
    "-c:a",
    "aac",
  ];
  const clipPath = await stage.make("hiss.mp4", hiss);
  const text = "Forty-five letters are read in three seconds.";
  const lines = [
    { speaker: null, text, audio: null },
    { speaker: null, text: "你好你好你好你好你好", audio: null },
  ];
  const film = await stage.assemble({
    shots: [{ clipPath, contentType: "video/mp4", seconds: 2, isVoiced: false, lines }],
  });
  const samples = await readSamples(film.filmPath, "mov");
  expect(measureLevel(samples, titleSeconds, film.durationMs / 1000)).toBeLessThan(-60);
  const cues = await readCues(film.subtitlesPath);
  expect(cues.map(({ start, end }) => Math.round((end - start) * 10) / 10)).toEqual([3, 2]);

  const silent = await stage.assemble({ shots: [await stage.plainShot("gray")] });
  const nothing = await readSamples(silent.filmPath, "mov");
  expect(measureLevel(nothing, 0, silent.durationMs / 1000)).toBeLessThan(-90);
  expect(nothing.length / 24_000).toBeCloseTo(silent.durationMs / 1000, 1);
});

test("peaks stay below distortion, however much the rest is amplified", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const clicks = "aevalsrc='0.9*lt(mod(t,0.7),0.0008)+0.004*sin(2*PI*300*t)':d=4:s=48000";
  const clipPath = await stage.make("clicks.mp4", [
    ...["-f", "lavfi", "-i", "color=c=gray:s=64x36:r=24:d=4", "-f", "lavfi", "-i", clicks],
    ...[...quickFilm, "-c:a", "aac"],
  ]);
  const film = await stage.assemble({
    shots: [{ clipPath, contentType: "video/mp4", seconds: 4, isVoiced: true, lines: [] }],
  });
  const { loudness, peakDb } = await readLoudness(film.filmPath);
  expect(Math.abs(loudness + 16)).toBeLessThan(1.5);
  expect(peakDb).toBeLessThanOrEqual(-1.5);
});

test("a video fades in after its title and fades out at its end, video and sound", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const clipPath = await stage.make("clip.mp4", [
    ...[
      "-f",
      "lavfi",
      "-i",
      "color=c=white:s=64x36:r=24:d=3",
      "-f",
      "lavfi",
      "-i",
      "sine=f=500:d=3",
      ...quickFilm,
      "-c:a",
      "aac",
    ],
  ]);
  const film = await stage.assemble({
    shots: [{ clipPath, contentType: "video/mp4", seconds: 3, isVoiced: true, lines: [] }],
  });
  const pictures = await readImages(film.filmPath, small);
  const tone = (seconds: number): number => averageColour(at(pictures, seconds))[1];
  const end = film.durationMs / 1000;
  expect(tone(0)).toBeLessThan(12);
  expect(tone(titleSeconds)).toBeLessThan(12);
  expect(tone(titleSeconds + 0.25)).toBeGreaterThan(80);
  expect(tone(titleSeconds + 0.25)).toBeLessThan(180);
  expect(tone(titleSeconds + 0.6)).toBeGreaterThan(240);
  expect(tone(end - 0.6)).toBeGreaterThan(240);
  expect(tone(end - 0.05)).toBeLessThan(30);
  const samples = await readSamples(film.filmPath, "mov");
  const loud = measureLevel(samples, titleSeconds + 1, titleSeconds + 2);
  expect(measureLevel(samples, titleSeconds, titleSeconds + 0.1)).toBeLessThan(loud - 10);
  expect(measureLevel(samples, end - 0.1, end)).toBeLessThan(loud - 10);
});

test("the poster has the video's ratio, is as large as the image allows, and shows it undistorted with the title below", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const circle = `<svg width="800" height="900"><rect width="800" height="900" fill="#304060"/><circle cx="400" cy="300" r="150" fill="#f0f0f0"/></svg>`;
  const imagePath = `${stage.folder}/picture.png`;
  await sharp(Buffer.from(circle)).png().toFile(imagePath);
  const film = await stage.assemble({
    title: "",
    aspectRatio: "9:16",
    imagePath,
    shots: [await stage.plainShot("gray", { size: "36x64" })],
  });
  const titled = await stage.assemble({
    title: "A title",
    aspectRatio: "9:16",
    imagePath,
    shots: [await stage.plainShot("gray", { size: "36x64" })],
  });
  const { data, info } = await sharp(film.posterPath).raw().toBuffer({ resolveWithObject: true });
  expect((await sharp(film.posterPath).metadata()).format).toBe("jpeg");
  expect([info.width, info.height]).toEqual([506, 900]);
  const isLight = (x: number, y: number): boolean => (data[(y * info.width + x) * 3] ?? 0) > 170;
  const row = Array.from({ length: info.width }, (_, x) => isLight(x, rowOf(data, info))).filter(Boolean).length;
  const column = Array.from({ length: Math.floor(info.height * 0.6) }, (_, y) => isLight(info.width / 2, y)).filter(
    Boolean,
  ).length;
  // Too much would have to be cropped, so it is shown whole: 800 pixels in 506.
  expect(Math.abs(row - 300 * (506 / 800))).toBeLessThan(8);
  expect(Math.abs(row / column - 1)).toBeLessThan(0.05);
  const other = await sharp(titled.posterPath).raw().toBuffer();
  const changed = data.map((value, index) => (Math.abs(value - (other[index] ?? 0)) > 100 ? 1 : 0));
  const half = changed.length / 2;
  expect(changed.subarray(half).reduce((sum, value) => sum + value, 0)).toBeGreaterThan(500);
  expect(changed.subarray(0, half).reduce((sum, value) => sum + value, 0)).toBe(0);
});

/** The row through the middle of the bright area. */
function rowOf(data: Buffer, { width, height }: { width: number; height: number }): number {
  const rows = Array.from({ length: Math.floor(height * 0.6) }, (_, y) => y).filter(
    (y) => (data[(y * width + width / 2) * 3] ?? 0) > 170,
  );
  return Math.round(((rows[0] ?? 0) + (rows.at(-1) ?? 0)) / 2);
}
