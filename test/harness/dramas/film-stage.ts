// Creates clips and voices, assembles a video from them, and analyses its frames and sound.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assembleFilm } from "../../../src/features/dramas/film/assemble-film.ts";
import type { FilmLine, FilmOrder, FilmShot, MadeFilm } from "../../../src/features/dramas/film/film-order.ts";
import { runMediaTool } from "../../../src/platform/media/run-media-tool.ts";

export type FilmStage = AsyncDisposable & {
  folder: string;
  /** Runs ffmpeg with these words and the file's name at the end. */
  make(name: string, words: readonly string[]): Promise<string>;
  /** A shot of one colour, without sound. */
  plainShot(colour: string, parts?: Partial<FilmShot> & { clipSeconds?: number; size?: string }): Promise<FilmShot>;
  /** A line with a pure tone as its voice. */
  spokenLine(text: string, seconds: number, parts?: { speaker?: string | null; hertz?: number }): Promise<FilmLine>;
  assemble(order: Partial<FilmOrder> & Pick<FilmOrder, "shots">, signal?: AbortSignal): Promise<AssembledFilm>;
};

type AssembledFilm = MadeFilm & { progress: readonly number[] };

const limits = {
  source: "ours",
  signal: new AbortController().signal,
  timeoutMs: 60_000,
  stdoutBytesMax: 200_000_000,
} as const;

/** Encoding takes real time, especially on a busy machine. */
export const filmMsMax = 300_000;

export async function openFilmStage(): Promise<FilmStage> {
  const folder = await mkdtemp(join(tmpdir(), "film-stage-"));
  let count = 0;
  const stage: FilmStage = {
    folder,
    async make(name, words) {
      count += 1;
      const path = join(folder, `${count}-${name}`);
      await runMediaTool({ ...limits, tool: "ffmpeg", args: [...words, `file:${path}`] });
      return path;
    },
    async plainShot(colour, { clipSeconds = 0.5, size = "64x36", ...parts } = {}) {
      const source = ["-f", "lavfi", "-i", `color=c=${colour}:s=${size}:r=24:d=${clipSeconds}`];
      const clipPath = await stage.make("clip.mp4", [...source, ...quickFilm]);
      return { clipPath, contentType: "video/mp4", seconds: 1.2, isVoiced: false, lines: [], ...parts };
    },
    async spokenLine(text, seconds, { speaker = null, hertz = 300 } = {}) {
      const path = await stage.make("line.wav", ["-f", "lavfi", "-i", `sine=f=${hertz}:d=${seconds}:r=24000`]);
      return { speaker, text, audio: { path, contentType: "audio/wav" } };
    },
    async assemble(order, signal = limits.signal) {
      count += 1;
      const progress: number[] = [];
      const usual = { title: "Title", episode: 1, language: "en", aspectRatio: "16:9", subtitles: "burned" } as const;
      const whole = { ...usual, imagePath: null, ...order };
      const film = await assembleFilm(
        { folder: join(folder, `film-${count}`), ...whole },
        { signal, onProgress: (percent) => progress.push(percent) },
      );
      return { ...film, progress };
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
  return stage;
}

export const quickFilm = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];

export type Frame = { width: number; height: number; pixels: Buffer };

/** Every frame of a video, red, green and blue, a byte each. */
export async function readImages(path: string, { width, height }: { width: number; height: number }): Promise<Frame[]> {
  const args = ["-f", "mov", "-i", `file:${path}`, "-pix_fmt", "rgb24", "-f", "rawvideo", "pipe:1"];
  const { stdout } = await runMediaTool({ ...limits, tool: "ffmpeg", args });
  const bytes = width * height * 3;
  return Array.from({ length: stdout.length / bytes }, (_, index) => ({
    width,
    height,
    pixels: stdout.subarray(index * bytes, (index + 1) * bytes),
  }));
}

/** The text track of a video, as WebVTT. */
export async function readTrack(path: string): Promise<string> {
  const args = ["-f", "mov", "-i", `file:${path}`, "-map", "0:s:0", "-f", "webvtt", "pipe:1"];
  return (await runMediaTool({ ...limits, tool: "ffmpeg", args })).stdout.toString();
}

/** The average colour of an area of an image; the sides are fractions. */
export function averageColour(
  { width, height, pixels }: Frame,
  [left, top, right, bottom]: readonly [number, number, number, number] = [0, 0, 1, 1],
): [red: number, green: number, blue: number] {
  const sums: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (let y = Math.floor(top * height); y < Math.ceil(bottom * height); y += 1) {
    for (let x = Math.floor(left * width); x < Math.ceil(right * width); x += 1) {
      const at = (y * width + x) * 3;
      sums[0] += pixels[at] ?? 0;
      sums[1] += pixels[at + 1] ?? 0;
      sums[2] += pixels[at + 2] ?? 0;
      count += 1;
    }
  }
  return [Math.round(sums[0] / count), Math.round(sums[1] / count), Math.round(sums[2] / count)];
}

/** The difference between the brightest and the darkest pixel of an area: 0 for a single colour. */
export function measureContrast(
  { width, height, pixels }: Frame,
  [left, top, right, bottom]: readonly [number, number, number, number],
): number {
  let [least, most] = [255, 0];
  for (let y = Math.floor(top * height); y < Math.ceil(bottom * height); y += 1) {
    for (let x = Math.floor(left * width); x < Math.ceil(right * width); x += 1) {
      const green = pixels[(y * width + x) * 3 + 1] ?? 0;
      [least, most] = [Math.min(least, green), Math.max(most, green)];
    }
  }
  return most - least;
}

/** Loudness and true peak of a video by EBU R 128. */
export async function readLoudness(path: string): Promise<{ loudness: number; peakDb: number }> {
  const meter = "ebur128=peak=true:metadata=1,ametadata=print:file=-";
  const args = ["-f", "mov", "-i", `file:${path}`, "-vn", "-af", meter, "-f", "null", "-"];
  const { stdout } = await runMediaTool({ ...limits, tool: "ffmpeg", args });
  const text = stdout.toString();
  const read = (key: string): number[] =>
    Array.from(text.matchAll(new RegExp(`${key}=(-?[\\d.]+)`, "g")), (match) => Number(match[1]));
  const peak = Math.max(...read("true_peaks_ch0"), ...read("true_peaks_ch1"));
  return { loudness: read("r128\\.I").at(-1) ?? Number.NaN, peakDb: 20 * Math.log10(peak) };
}

/** The level between two times of a video, in dBFS. */
export function measureLevel(samples: Int16Array, start: number, end: number): number {
  const part = samples.subarray(Math.round(start * 24_000), Math.round(end * 24_000));
  const mean = part.reduce((sum, value) => sum + value * value, 0) / Math.max(1, part.length);
  return 20 * Math.log10(Math.max(1e-9, Math.sqrt(mean) / 32_768));
}

/** The level of a tone between two times, in the same unit. */
export function measureNote(samples: Int16Array, hertz: number, start: number, end: number): number {
  let [sine, cosine] = [0, 0];
  const [from, to] = [Math.round(start * 24_000), Math.round(end * 24_000)];
  for (let at = from; at < to; at += 1) {
    const angle = (2 * Math.PI * hertz * at) / 24_000;
    sine += (samples[at] ?? 0) * Math.sin(angle);
    cosine += (samples[at] ?? 0) * Math.cos(angle);
  }
  const amplitude = (2 * Math.hypot(sine, cosine)) / Math.max(1, to - from);
  return 20 * Math.log10(Math.max(1e-9, amplitude / Math.SQRT2 / 32_768));
}

export type Cue = { start: number; end: number; text: string };

/** The cues of a WebVTT file, in seconds. */
export async function readCues(path: string): Promise<Cue[]> {
  const [head, ...blocks] = (await readFile(path, "utf8")).trimEnd().split("\n\n");
  if (head !== "WEBVTT") throw new Error(`A subtitle file begins with ${head}`);
  return blocks.map((block) => {
    const [times = "", ...lines] = block.split("\n");
    const match = /^(\d\d):(\d\d):(\d\d\.\d{3}) --> (\d\d):(\d\d):(\d\d\.\d{3})$/.exec(times);
    const [hour, minute, second, endHour, endMinute, endSecond] = (match ?? []).slice(1).map(Number);
    const toSeconds = (h = Number.NaN, m = Number.NaN, s = Number.NaN): number => h * 3600 + m * 60 + s;
    return {
      start: toSeconds(hour, minute, second),
      end: toSeconds(endHour, endMinute, endSecond),
      text: lines.join("\n"),
    };
  });
}
