// @module-tag extended
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FilmError } from "../../../src/features/dramas/film/film-error.ts";
import { filmMsMax, openFilmStage, quickFilm, readCues, readImages } from "../../harness/dramas/film-stage.ts";
import { listChildren } from "../../harness/list-children.ts";
import { probe } from "../../harness/media/test-studio.ts";
import { waitUntil } from "../../harness/wait-until.ts";

test("forty shots make one video", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const shot = await stage.plainShot("gray");
  const film = await stage.assemble({ shots: Array.from({ length: 40 }, () => shot) });
  const { streams } = await probe(film.filmPath, "mov");
  expect(streams.find((stream) => stream.codec_type === "video")?.nb_read_frames).toBe(String(60 + 40 * 29));
  expect(new Set(film.progress).size).toBeGreaterThan(40);
});

test("a line of two thousand characters is shown in parts, one after another, none of it lost", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const text = "The tide came in, and nobody had told them. ".repeat(45).trim();
  const line = await stage.spokenLine(text, 12);
  const film = await stage.assemble({ shots: [await stage.plainShot("gray", { lines: [line] })] });
  const cues = await readCues(film.subtitlesPath);
  expect(cues.length).toBeGreaterThan(32);
  expect(cues.map((cue) => cue.text).join(" ")).toBe(text);
  expect(cues[0]?.start).toBeCloseTo(2.85, 1);
  expect(cues.at(-1)?.end).toBeCloseTo(14.85, 1);
  for (const [index, cue] of cues.entries()) expect(cue.end).toBe(cues[index + 1]?.start ?? cue.end);
  // All of them are drawn, on as many sheets as it takes.
  const pictures = await readImages(film.filmPath, { width: 160, height: 90 });
  const middles = cues.map(({ start, end }) =>
    pictures[Math.floor(((start + end) / 2) * 24)]?.pixels.subarray(160 * 45 * 3),
  );
  const bright = middles.map((pixels) => (pixels ?? Buffer.alloc(0)).filter((value) => value > 190).length);
  for (const count of bright) expect(count).toBeGreaterThan(50);
});

test("a damaged clip is an error that names its shot", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const good = await stage.plainShot("gray");
  const film = await readFile(good.clipPath);
  const start = film.indexOf("mdat") + 4;
  const blank = Buffer.from(film).fill(0, start, start - 8 + film.readUInt32BE(start - 8));
  const damages: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    noise: Buffer.from("no film at all ".repeat(500)),
    "cut short": film.subarray(0, Math.floor(film.length / 2)),
    "without a picture": blank,
  };
  for (const [damage, bytes] of Object.entries(damages)) {
    const clipPath = join(stage.folder, "damaged.mp4");
    await writeFile(clipPath, bytes);
    const order = { shots: [good, { ...good, clipPath }, good] };
    const error = await stage.assemble(order).catch((caught: unknown) => caught);
    expect(error, damage).toBeInstanceOf(FilmError);
    expect((error as FilmError).shot, damage).toBe(1);
  }
});

test("a damaged voice file or one of an unknown format is an error that names its shot", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const good = await stage.plainShot("gray");
  const path = join(stage.folder, "damaged.wav");
  await writeFile(path, "no voice at all ".repeat(100));
  for (const contentType of ["audio/wav", "application/x-unknown"]) {
    const lines = [{ speaker: null, text: "Hello", audio: { path, contentType } }];
    const error = await stage.assemble({ shots: [good, { ...good, lines }] }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(FilmError);
    expect((error as FilmError).shot).toBe(1);
  }
});

test("an abort ends every process of a video at once and rejects with the signal's reason", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const source = ["-f", "lavfi", "-i", "testsrc=s=640x360:r=24:d=20"];
  const clipPath = await stage.make("large.mp4", [...source, ...quickFilm]);
  const shot = { clipPath, contentType: "video/mp4", seconds: 20, isVoiced: false, lines: [] };
  const others = new Set(await listChildren());
  const countOwn = async (): Promise<number> => (await listChildren()).filter((pid) => !others.has(pid)).length;
  const reason = new Error("nobody wants it any more");
  const folder = join(stage.folder, "late");
  const hasPiece = (): Promise<boolean> => exists(join(folder, "piece-0.mp4"));
  for (const isReached of [async () => (await countOwn()) > 0, hasPiece]) {
    const controller = new AbortController();
    const making = stage.assemble({ folder, shots: [shot, shot] }, controller.signal).catch((error: unknown) => error);
    await waitUntil("the work to be under way", isReached, filmMsMax);
    controller.abort(reason);
    expect(await making).toBe(reason);
    await waitUntil("all processes to be gone", async () => (await countOwn()) === 0);
  }
  const aborted = AbortSignal.abort(reason);
  await expect(stage.assemble({ shots: [shot] }, aborted)).rejects.toBe(reason);
});

test("an abort while texts are drawn does not wait for the rest of them", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const line = { speaker: null, text: "word ".repeat(390).trim(), audio: null };
  const shot = await stage.plainShot("gray", { size: "1920x1080", lines: Array.from({ length: 20 }, () => line) });
  const controller = new AbortController();
  const folder = join(stage.folder, "drawn");
  const making = stage.assemble({ folder, shots: [shot] }, controller.signal).catch((error: unknown) => error);
  const hasSheet = (): Promise<boolean> => exists(join(folder, "drawn", "captions-0-0.png"));
  await waitUntil("the first captions to be drawn", hasSheet, filmMsMax);
  const reason = new Error("nobody wants it any more");
  controller.abort(reason);
  expect(await making).toBe(reason);
  // It would have been the last.
  expect(await exists(join(folder, "drawn", "poster.jpg"))).toBe(false);
});

test("nothing is written outside the order's folder", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const lines = [await stage.spokenLine("Hello", 0.5)];
  const shot = await stage.plainShot("gray", { lines });
  const before = await readdir(stage.folder);
  const film = await stage.assemble({ folder: join(stage.folder, "a film's own folder, 100%"), shots: [shot] });
  expect(film.filmPath).toContain("100%");
  expect((await readdir(stage.folder)).filter((name) => !before.includes(name))).toEqual(["a film's own folder, 100%"]);
});

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
