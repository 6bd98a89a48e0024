// @module-tag extended
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import sharp from "sharp";
import { expect, test } from "vitest";
import { splitClusters, takeDrawable } from "../../../src/features/dramas/film/drawable-text.ts";
import type { DrawingAnswer } from "../../../src/features/dramas/film/drawing-order.ts";
import { labelEpisode } from "../../../src/features/dramas/film/episode-label.ts";
import { runDrawing } from "../../../src/features/dramas/film/run-drawing.ts";
import { describeNodeProgram } from "../../../src/platform/confinement/node-program.ts";
import { startConfinedProcess } from "../../../src/platform/confinement/start-confined-process.ts";
import { fontsDir, loadFontMetrics } from "../../../src/platform/text/font-metrics.ts";
import { type FilmStage, filmMsMax, openFilmStage } from "../../harness/dramas/film-stage.ts";

const signal = new AbortController().signal;

type Drawn = DrawingAnswer & { folder: string };

let drawingCount = 0;

async function draw(
  stage: FilmStage,
  {
    title = "",
    label = "",
    texts = [],
    speaker = null,
    frame = { width: 640, height: 360 },
  }: {
    title?: string;
    label?: string;
    texts?: readonly string[];
    speaker?: string | null;
    frame?: { width: number; height: number };
  },
): Promise<Drawn> {
  drawingCount += 1;
  const folder = join(stage.folder, `drawing-${drawingCount}`);
  await mkdir(folder);
  const imagePath = join(folder, "picture.png");
  await sharp({ create: { ...frame, channels: 3, background: "#806040" } })
    .png()
    .toFile(imagePath);
  const lines = texts.map((text, index) => ({ speaker, text, startFrame: index * 24, endFrame: (index + 1) * 24 }));
  const shots = lines.map((line) => ({ lines: [line] }));
  const order = { frame, title, episodeLabel: label, imagePath, folder, hasCaptions: true, shots };
  return { ...(await runDrawing(order, signal)), folder };
}

type Box = { left: number; top: number; right: number; bottom: number; count: number };

/** The bright area of an image: its text. */
async function findInk(path: string, { top = 0, height }: { top?: number; height?: number } = {}): Promise<Box> {
  const picture = sharp(path).ensureAlpha();
  const { width, height: whole } = await sharp(path).metadata();
  const part = { left: 0, top, width, height: height ?? whole };
  const pixels = await picture.extract(part).raw().toBuffer();
  const box = { left: width, top: part.height, right: 0, bottom: 0, count: 0 };
  for (let at = 0; at < pixels.length; at += 4) {
    if ((pixels[at + 2] ?? 0) < 170 || (pixels[at + 3] ?? 0) < 200) continue;
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
    box.count += 1;
  }
  return box;
}

const scripts = {
  Latin: "Ünïcode, naïve façade",
  Greek: "Καλημέρα κόσμε",
  Cyrillic: "Привет, мир",
  Hebrew: "שלום עולם",
  Arabic: "مرحبا بالعالم",
  Chinese: "你好，世界",
  Japanese: "こんにちは、カタカナ",
};

test("captions in every supported script are drawn, without a missing glyph", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const drawn = await draw(stage, { texts: Object.values(scripts) });
  expect(drawn.undrawable).toEqual([]);
  // Only the bundled fonts were used, whatever the machine has.
  expect(await readdir(join(drawn.folder, "cache", "fontconfig"))).not.toEqual([]);
  for (const [index, script] of Object.keys(scripts).entries()) {
    const [sheet] = drawn.shots[index]?.sheets ?? [];
    const ink = await findInk(join(drawn.folder, sheet?.name ?? ""), {
      top: drawn.strip.height,
      height: drawn.strip.height,
    });
    expect(ink.count, script).toBeGreaterThan(150);
    expect(Math.abs((ink.left + ink.right) / 2 - drawn.strip.width / 2), script).toBeLessThan(8);
  }
});

/** The characters that are drawn as the box for a missing glyph. */
async function findBoxed(stage: FilmStage, characters: readonly string[]): Promise<string[]> {
  const path = join(import.meta.dirname, "../../harness/media/boxed-glyphs-process.ts");
  const program = describeNodeProgram(path, { heapMebibytesMax: 512, reads: [path], writes: [stage.folder] });
  const running = await startConfinedProcess({
    ...program,
    name: "boxed-glyphs-process.ts",
    environment: {
      ...program.environment,
      FONTCONFIG_FILE: join(fontsDir, "fonts.conf"),
      XDG_CACHE_HOME: stage.folder,
    },
    memory: { kind: "data", bytesMax: 2 * 1024 ** 3 },
    signal,
    timeoutMs: filmMsMax,
    input: Buffer.from(JSON.stringify(characters)),
  });
  const [boxed] = await Promise.all([json(running.stdout), running.ended]);
  return boxed as string[];
}

test("no supported character is drawn as a box, and every unsupported one would be", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const metrics = loadFontMetrics();
  const drawable = Object.values(scripts).flatMap((text) => splitClusters(takeDrawable(text, metrics).text));
  const letters = [...new Set(drawable)].filter((cluster) => /\p{L}/u.test(cluster));
  const undrawable = takeDrawable("สวัสดี नमस्ते 한국어 🦄", metrics).undrawable;
  expect(letters.length).toBeGreaterThan(50);
  expect(undrawable.length).toBeGreaterThan(9);
  expect(await findBoxed(stage, letters)).toEqual([]);
  expect(await findBoxed(stage, ["ส", "न", "한", "국", "🦄"])).toEqual(["ส", "न", "한", "국", "🦄"]);
});

test("characters without a glyph are left out of the video, listed, and kept in the subtitles", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const texts = [
    "สวัสดีชาวโลก",
    "नमस्ते दुनिया",
    "한국어 자막",
    "Look, a unicorn 🦄 and a flag 🇩🇪!",
    "👩‍🚀",
    "Look, a unicorn and a flag !",
  ];
  const drawn = await draw(stage, { texts });
  for (const missing of ["ส", "न", "한", "🦄", "🇩🇪", "👩‍🚀"]) {
    expect(
      drawn.undrawable.some((cluster) => cluster.startsWith(missing)),
      missing,
    ).toBe(true);
  }
  expect(drawn.undrawable).not.toContain("L");
  expect(drawn.undrawable).toEqual([...new Set(drawn.undrawable)]);
  expect(drawn.shots.map(({ sheets }) => sheets.length)).toEqual([0, 0, 0, 1, 0, 1]);
  expect(drawn.shots.map(({ cues }) => cues.map(({ text }) => text).join(""))).toEqual(texts);
  // The same image as for the sentence without them: there is no box in their place.
  const [with_, without] = [3, 5].map((index) => join(drawn.folder, drawn.shots[index]?.sheets[0]?.name ?? ""));
  expect(await sharp(with_).raw().toBuffer()).toEqual(await sharp(without).raw().toBuffer());
});

test("the speaker is named above the line, unless it is the narrator", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const texts = ["Hello there"];
  const [narrated, spoken] = [await draw(stage, { texts }), await draw(stage, { texts, speaker: "Ana" })];
  const heights = await Promise.all(
    [narrated, spoken].map(async ({ folder, shots }) => {
      const [sheet] = shots[0]?.sheets ?? [];
      const { data, info } = await sharp(join(folder, sheet?.name ?? ""))
        .raw()
        .toBuffer({ resolveWithObject: true });
      const rows = Array.from({ length: info.height }, (_, y) => y);
      return rows.filter((y) => (data[(y * info.width + info.width / 2) * 4 + 3] ?? 0) > 100).length;
    }),
  );
  expect(heights[1]).toBeGreaterThan((heights[0] ?? 0) + 8);
});

test.each([
  ["Chinese", "长城之下：最后的守护者", { width: 640, height: 360 }],
  ["Arabic", "حكاية البحر والقمر", { width: 360, height: 640 }],
  ["two hundred characters without a space", "W".repeat(200), { width: 640, height: 360 }],
  ["two hundred characters upright", "W".repeat(200), { width: 360, height: 640 }],
  [
    "long",
    "The keeper of the light and all the ships that never came home ".repeat(3).trim(),
    { width: 640, height: 360 },
  ],
  ["markup", "<b>&amp;</b> <![CDATA[", { width: 640, height: 360 }],
])("a title that is %s is centred on its card and fits the poster", { timeout: filmMsMax }, async (_, title, frame) => {
  await using stage = await openFilmStage();
  const drawn = await draw(stage, { title, frame });
  const ink = await findInk(join(drawn.folder, drawn.titleName));
  expect(ink.count).toBeGreaterThan(300);
  expect(ink.left).toBeGreaterThan(frame.width * 0.04);
  expect(ink.right).toBeLessThan(frame.width * 0.96);
  expect(Math.abs((ink.left + ink.right) / 2 - frame.width / 2)).toBeLessThan(frame.width * 0.03);
  expect(ink.top).toBeGreaterThan(frame.height * 0.1);
  expect(ink.bottom).toBeLessThan(frame.height * 0.9);
  const poster = await findInk(join(drawn.folder, drawn.posterName));
  expect(poster.count).toBeGreaterThan(300);
  expect(poster.left).toBeGreaterThan(frame.width * 0.02);
  expect(poster.top).toBeGreaterThan(frame.height * 0.4);
});

test("a title is drawn to its last letter, however long it is", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const drawn = [
    await draw(stage, { title: `${"W".repeat(199)}A` }),
    await draw(stage, { title: `${"W".repeat(199)}B` }),
  ];
  for (const name of ["titleName", "posterName"] as const) {
    const [one, other] = await Promise.all(drawn.map((each) => sharp(join(each.folder, each[name])).raw().toBuffer()));
    expect(one?.equals(other ?? Buffer.alloc(0)), name).toBe(false);
  }
});

test("a title without drawable characters leaves a card with the episode alone", { timeout: filmMsMax }, async () => {
  await using stage = await openFilmStage();
  const drawn = await draw(stage, { title: "🦄🜨", label: labelEpisode(3, "ar") });
  expect(drawn.undrawable).toEqual(["🦄", "🜨"]);
  const ink = await findInk(join(drawn.folder, drawn.titleName));
  expect(ink.count).toBeGreaterThan(10);
  expect(ink.bottom - ink.top).toBeLessThan(360 * 0.08);
});
