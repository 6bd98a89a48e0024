import { expect, test } from "vitest";
import { planTimeline, type TimedShot } from "./plan-timeline.ts";

const shot: TimedShot = { clipSeconds: 4, seconds: 2, isVoiced: false, lines: [] };
const line = (audioSeconds: number | null, text = "Hello"): TimedShot["lines"][number] => ({ text, audioSeconds });

function planOne(parts: Partial<TimedShot>) {
  const [planned] = planTimeline([{ ...shot, ...parts }]).shots;
  if (planned === undefined) throw new Error("There is no shot.");
  return planned;
}

test("shots follow the title card and each other without gaps", () => {
  const { titleFrames, shots, frameCount } = planTimeline([shot, { ...shot, seconds: 3 }, shot]);
  expect(titleFrames).toBe(60);
  expect(shots.map(({ startFrame, frameCount: count }) => [startFrame, count])).toEqual([
    [60, 48],
    [108, 72],
    [180, 48],
  ]);
  expect(frameCount).toBe(228);
});

test("a shot is as long as its lines, with pauses before, between and after", () => {
  const planned = planOne({ lines: [line(1), line(2)] });
  expect(planned.lines[0]?.startSeconds).toBeCloseTo(0.35);
  expect(planned.lines[1]?.startSeconds).toBeCloseTo(1.65);
  expect(planned.lines.map(({ startFrame, endFrame }) => [startFrame, endFrame])).toEqual([
    [8, 32],
    [40, 88],
  ]);
  expect(planned.frameCount).toBe(Math.ceil(4.1 * 24));
});

test("no shot is shorter than 1.2 s, and no silent one longer than a minute", () => {
  expect(planOne({ seconds: 0.1 }).frameCount).toBe(29);
  expect(planOne({ lines: [line(0.1)] }).frameCount).toBe(29);
  expect(planOne({ seconds: 1e9 }).frameCount).toBe(60 * 24);
});

test("a line without audio is shown for its reading time", () => {
  const planned = planOne({ lines: [line(null, "x".repeat(45)), line(null, "字".repeat(20)), line(null, "Ha")] });
  expect(planned.lines.map(({ startFrame, endFrame }) => endFrame - startFrame)).toEqual([72, 96, 29]);
});

test("a short clip is slowed down, by half at most, and never sped up", () => {
  expect(planOne({ clipSeconds: 2, seconds: 2.5 }).slowdown).toBeCloseTo(1.25);
  expect(planOne({ clipSeconds: 1, seconds: 10 }).slowdown).toBe(1.5);
  expect(planOne({ clipSeconds: 9, seconds: 2 }).slowdown).toBe(1);
});

test("a voiced shot is as long as its clip, with its lines in sequence", () => {
  const planned = planOne({ isVoiced: true, clipSeconds: 5, seconds: 1, lines: [line(2), line(3)] });
  expect(planned).toMatchObject({ frameCount: 120, slowdown: 1 });
  expect(planned.lines.map(({ startFrame, endFrame }) => [startFrame, endFrame])).toEqual([
    [0, 48],
    [48, 120],
  ]);
});

test("lines longer than their voiced clip are compressed to its length", () => {
  const planned = planOne({ isVoiced: true, clipSeconds: 2, lines: [line(2), line(2)] });
  expect(planned.lines.map(({ startFrame, endFrame }) => [startFrame, endFrame])).toEqual([
    [0, 24],
    [24, 48],
  ]);
  const tiny = planOne({ isVoiced: true, clipSeconds: 0.04, lines: [line(2), line(2)] });
  for (const { startFrame, endFrame } of tiny.lines) expect([startFrame, endFrame]).toEqual([0, 1]);
});
