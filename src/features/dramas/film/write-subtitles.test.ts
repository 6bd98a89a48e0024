import { expect, test } from "vitest";
import { writeSubtitles } from "./write-subtitles.ts";

const cue = { startFrame: 24, endFrame: 60, speaker: null, text: "Hello" };

test("subtitles are WebVTT with times from the film's frames", () => {
  expect(writeSubtitles([cue, { ...cue, startFrame: 61, endFrame: 24 * 3725, speaker: "Ana" }])).toBe(
    "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nHello\n\n00:00:02.542 --> 01:02:05.000\n<v Ana>Hello\n",
  );
});

test("spoken text cannot become markup, a timestamp or the end of a cue", () => {
  const text = "<b>a</b> & 00:01 --> 00:02\n\nNOTE x\u2028y\r\nz";
  const written = writeSubtitles([{ ...cue, text, speaker: "A>B\n\nC" }]);
  expect(written.split("\n\n")).toHaveLength(2);
  expect(written).toContain("<v A&gt;B C>&lt;b&gt;a&lt;/b&gt; &amp; 00:01 --&gt; 00:02 NOTE x y z\n");
});

test("a film without lines has subtitles without cues", () => {
  expect(writeSubtitles([])).toBe("WEBVTT\n");
});
