import { expect, test } from "vitest";
import { writeSrt, writeVtt } from "./write-cues.ts";

const cues = [
  { start: 0, end: 1.2345, text: " One & <two>\n\n three --> four " },
  { start: 3661.5, end: 3660, text: "Late" },
];

test("SubRip cues are numbered, their times use commas, and no text can end its cue", () => {
  expect(writeSrt(cues)).toBe(
    "1\n00:00:00,000 --> 00:00:01,235\nOne & <two>\nthree -> four\n\n2\n01:01:01,500 --> 01:01:01,500\nLate\n\n",
  );
  expect(writeSrt([])).toBe("");
});

test("WebVTT starts with its header, its times use points, and markup is escaped", () => {
  expect(writeVtt(cues)).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.235\nOne &amp; &lt;two>\nthree -> four\n\n01:01:01.500 --> 01:01:01.500\nLate\n\n",
  );
  expect(writeVtt([])).toBe("WEBVTT\n\n");
});
