// @module-tag extended
import { expect, test } from "vitest";
import {
  type FilmStage,
  type Frame,
  filmMsMax,
  measureContrast,
  openFilmStage,
  readCues,
  readImages,
  readTrack,
} from "../../harness/dramas/film-stage.ts";
import { probe } from "../../harness/media/test-studio.ts";

const titleFrames = 60;

/** The part of the height that captions may cover: above a phone's own buttons, below the faces of a shot. */
const formats = [
  { aspectRatio: "9:16", size: "180x320", frame: { width: 180, height: 320 }, band: [0.6, 0.81] },
  { aspectRatio: "16:9", size: "320x180", frame: { width: 320, height: 180 }, band: [0.66, 0.96] },
  { aspectRatio: "1:1", size: "240x240", frame: { width: 240, height: 240 }, band: [0.66, 0.92] },
] as const;

async function shoot(stage: FilmStage, size: string) {
  const lines = [await stage.spokenLine("Who is there, at this hour of the night?", 1, { speaker: "Anna" })];
  return [await stage.plainShot("gray", { size, lines })];
}

/** Frames in which the line is spoken, away from fades. */
function pickSpoken(pictures: readonly Frame[]): Frame[] {
  return pictures.slice(titleFrames + 13, titleFrames + 28);
}

test.each(formats)(
  "captions of a video in $aspectRatio stay within their band, low and clear of a phone's own buttons",
  {
    timeout: filmMsMax,
  },
  async ({ aspectRatio, size, frame, band: [top, bottom] }) => {
    await using stage = await openFilmStage();
    const film = await stage.assemble({ aspectRatio, shots: await shoot(stage, size) });
    const { streams } = await probe(film.filmPath, "mov");
    expect(streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio"]);
    expect(film).toMatchObject(frame);
    const spoken = pickSpoken(await readImages(film.filmPath, frame));
    expect(spoken).toHaveLength(15);
    for (const picture of spoken) {
      expect(measureContrast(picture, [0, top, 1, bottom])).toBeGreaterThan(60);
      expect(measureContrast(picture, [0, 0, 1, top])).toBeLessThan(8);
      expect(measureContrast(picture, [0, bottom, 1, 1])).toBeLessThan(8);
    }
  },
);

test.each(formats)(
  "subtitles of a video in $aspectRatio as a track leave its frames alone",
  {
    timeout: filmMsMax,
  },
  async ({ aspectRatio, size, frame }) => {
    await using stage = await openFilmStage();
    const film = await stage.assemble({ aspectRatio, subtitles: "track", shots: await shoot(stage, size) });
    const { streams, format } = await probe(film.filmPath, "mov");
    expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac", "mov_text"]);
    expect(Math.abs(Number(format.duration) * 1000 - film.durationMs)).toBeLessThan(100);
    for (const picture of pickSpoken(await readImages(film.filmPath, frame))) {
      expect(measureContrast(picture, [0, 0, 1, 1])).toBeLessThan(8);
    }
    const track = await readTrack(film.filmPath);
    expect(track).toContain("Who is there, at this hour of the night?");
    const [cue] = await readCues(film.subtitlesPath);
    expect(cue?.text).toBe("<v Anna>Who is there, at this hour of the night?");
  },
);

test("a video without subtitles has no track and no captions, and still its subtitle file", {
  timeout: filmMsMax,
}, async () => {
  await using stage = await openFilmStage();
  const shots = await shoot(stage, "320x180");
  const film = await stage.assemble({ subtitles: "none", shots });
  const { streams } = await probe(film.filmPath, "mov");
  expect(streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio"]);
  for (const picture of pickSpoken(await readImages(film.filmPath, { width: 320, height: 180 }))) {
    expect(measureContrast(picture, [0, 0, 1, 1])).toBeLessThan(8);
  }
  expect(await readCues(film.subtitlesPath)).toHaveLength(1);
  const unsaid = await stage.assemble({ subtitles: "track", shots: [await stage.plainShot("gray")] });
  expect((await probe(unsaid.filmPath, "mov")).streams).toHaveLength(2);
});
