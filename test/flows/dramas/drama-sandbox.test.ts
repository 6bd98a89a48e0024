// @module-tag extended
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoryboardDocument } from "../../../src/features/dramas/drama-documents.ts";
import { countStartedSeconds } from "../../../src/lib/started-seconds.ts";
import { type DramaFront, openDramaFront, type SeenDrama } from "../../harness/dramas/drama-callers.ts";
import { readCues, readLoudness } from "../../harness/dramas/film-stage.ts";
import { analyseSpeech } from "../../harness/media/analyse-speech.ts";
import { drawPortrait } from "../../harness/media/portrait.ts";
import { probe, readSamples } from "../../harness/media/test-studio.ts";

const dramaMsMax = 240_000;

const scripts = {
  english: {
    title: "The Lamp",
    script: "INT. KITCHEN - NIGHT\n\nAnna lights a lamp.\n\nANNA\nThe lamp is out. Somebody has to climb up.",
    characters: [{ name: "Anna" }],
  },
  chinese: { title: "灯塔", script: "第一场 海边 夜 外\n林晓：灯灭了，有人得爬上去。", aspect_ratio: "9:16" },
};

let front: DramaFront;
let folder: string;
beforeAll(async () => {
  front = await openDramaFront();
  folder = await mkdtemp(join(tmpdir(), "drama-sandbox-"));
}, dramaMsMax);
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function fetchOutput(drama: SeenDrama, type: string): Promise<Buffer> {
  const output = drama.output.find((each) => each.type === type);
  if (output === undefined) throw new Error(`The drama has no ${type}.`);
  // Links point to the address in the settings.
  const { pathname, search } = new URL(output.url);
  return Buffer.from(await (await fetch(`${front.gateway.siteUrl}${pathname}${search}`)).arrayBuffer());
}

async function keepOutput(drama: SeenDrama, type: string, name: string): Promise<string> {
  const path = join(folder, `${drama.id}-${name}`);
  await writeFile(path, await fetchOutput(drama, type));
  return path;
}

test(
  "two dramas at once in the sandbox are two videos with voices, captions, a title and a poster, each paid for once",
  async () => {
    const caller = await front.createCaller({ cash: "20.00" });
    const portrait = await caller.upload(await drawPortrait(320, 320));
    const characters = [{ name: "Anna", reference_file_id: portrait }];
    const asked = [
      { ...scripts.english, characters, stage: "video", episode: 3 },
      { ...scripts.chinese, stage: "video" },
    ];
    const begun = await Promise.all(asked.map((more) => caller.order(more)));
    const [english, chinese] = (await Promise.all(
      begun.map(({ id }) => caller.awaitTask(id, undefined, dramaMsMax)),
    )) as [SeenDrama, SeenDrama];
    expect([english.status, chinese.status]).toEqual(["succeeded", "succeeded"]);

    for (const [drama, ratio, spokenTo] of [
      [english, 16 / 9, "The lamp is out. Somebody has to climb up."],
      [chinese, 9 / 16, "灯灭了，有人得爬上去。"],
    ] as const) {
      expect(drama.steps.map(({ name, status }) => `${name} ${status}`)).toEqual(
        ["script", "roles", "storyboard", "shots", "speech", "film"].map((name) => `${name} succeeded`),
      );
      const film = await keepOutput(drama, "video", "film.mp4");
      const { streams, format } = await probe(film, "mov");
      const seconds = Number(format.duration);
      expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac"]);
      const { width = 0, height = 1, r_frame_rate } = streams[0] ?? {};
      expect(r_frame_rate).toBe("24/1");
      expect(width / height).toBeCloseTo(ratio, 1);
      const board = JSON.parse((await fetchOutput(drama, "storyboard")).toString()) as StoryboardDocument;
      expect(board.shots.every((shot) => shot.image_file_id !== null)).toBe(true);
      const cues = await readCues(await keepOutput(drama, "subtitles", "film.vtt"));
      expect(cues.map(({ text }) => text.replace(/^<v [^>]+>/, "").replaceAll("\n", " ")).join("")).toBe(spokenTo);
      const [first] = cues;
      const last = cues.at(-1);
      if (first === undefined || last === undefined) throw new Error("Nothing is said.");
      expect(last.end).toBeLessThanOrEqual(seconds + 0.1);
      const samples = await readSamples(film, "mov");
      const spoken = samples.subarray(Math.round(first.start * 24_000), Math.round(last.end * 24_000));
      expect(analyseSpeech(spoken).voicedShare).toBeGreaterThan(0.3);
      expect(Math.abs((await readLoudness(film)).loudness + 16)).toBeLessThan(1.5);
      const charged = 0.13 + Math.max(0.4, countStartedSeconds(seconds * 1000) * 0.08);
      expect(Number(drama.usage.charge)).toBeCloseTo(charged, 5);
    }
    await front.check();
  },
  dramaMsMax,
);
