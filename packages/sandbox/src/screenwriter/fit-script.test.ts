import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateSceneSeconds, fillEvenly, fitScript } from "./fit-script.ts";
import { createScene, type DraftLine, type DraftScene } from "./scene-draft.ts";

function sceneOf(...lines: DraftLine[]): DraftScene {
  return { ...createScene(null), lines };
}

const say = (text: string): DraftLine => ({ speaker: "Anna", text });
const tell = (text: string): DraftLine => ({ speaker: null, text });
/** 14 characters take a second. */
const told = (seconds: number): DraftLine => tell(`${"word ".repeat(seconds * 3).trim()}.`);

function sumSeconds(scenes: readonly DraftScene[]): number {
  return scenes.reduce((sum, scene) => sum + estimateSceneSeconds(scene), 0);
}

test("a script that fits is unchanged", () => {
  const scenes = [sceneOf(say("Hello."), told(5)), sceneOf()];
  expect(fitScript(scenes, 60)).toEqual(scenes);
});

test("narration is shortened before speech", () => {
  const scenes = [sceneOf(told(12), say("I stay."), told(12)), sceneOf(told(12), say("So do I."))];
  const fitted = fitScript(scenes, 20);
  expect(fitted.map(({ lines }) => lines.filter(({ speaker }) => speaker !== null).map(({ text }) => text))).toEqual([
    ["I stay."],
    ["So do I."],
  ]);
  expect(fitted[0]?.lines[0]?.text).toMatch(/^word .*word…$/);
  expect(fitted[0]?.lines).toHaveLength(2);
  expect(sumSeconds(fitted)).toBeLessThanOrEqual(20);
});

test("narration is cut only in its first sentence, and dropped if little would be left", () => {
  const [scene] = fitScript([sceneOf(told(3), told(9), told(1), say("I stay."))], 9);
  expect(scene?.lines).toEqual([told(3), say("I stay.")]);
  const [other] = fitScript([sceneOf(told(40), say("I stay, whatever you may say about it."))], 6);
  expect(other?.lines).toHaveLength(1);
  const [alone] = fitScript([sceneOf(told(40))], 6);
  expect(alone?.lines[0]?.text).toMatch(/^word .*word…$/);
});

test("the later lines of a long dialogue are dropped, and every scene keeps its start", () => {
  const talk = Array.from({ length: 12 }, (_, index) => say(`This is sentence number ${index}.`));
  const fitted = fitScript([sceneOf(...talk), sceneOf(say("Short.")), sceneOf(...talk)], 20);
  expect(fitted).toHaveLength(3);
  expect(fitted[1]?.lines).toEqual([say("Short.")]);
  for (const index of [0, 2]) {
    const lines = fitted[index]?.lines ?? [];
    expect(lines.length).toBeGreaterThan(2);
    expect(lines).toEqual(talk.slice(0, lines.length));
  }
});

test("a script with too many scenes keeps the first of them", () => {
  const scenes = Array.from({ length: 50 }, (_, index) =>
    sceneOf(tell(`This is what happens in scene ${index} of the film.`)),
  );
  const fitted = fitScript(scenes, 40);
  expect(fitted).toHaveLength(10);
  expect(fitted[9]?.lines[0]?.text).toMatch(/^This is what/);
});

test("a video has at most three hundred lines and sixty scenes", () => {
  const lines = Array.from({ length: 500 }, () => say("a"));
  expect(fitScript([sceneOf(...lines)], 3600)[0]?.lines).toHaveLength(300);
  expect(
    fitScript(
      Array.from({ length: 80 }, () => sceneOf(say("a"))),
      3600,
    ),
  ).toHaveLength(60);
});

test("small needs are met completely, and the others share the rest", () => {
  expect(fillEvenly([1, 10, 10], 11)).toEqual([1, 5, 5]);
  expect(fillEvenly([1, 2], 10)).toEqual([1, 2]);
  expect(fillEvenly([], 10)).toEqual([]);
  expect(fillEvenly([1, 2], -1)).toEqual([0, 0]);
});

test("a script is never longer than the video if there is time for one scene", () => {
  const anyLine = fc.record({
    speaker: fc.constantFrom("Anna", null),
    text: fc
      .array(fc.constantFrom("one", "two.", "海边", "three!"), { minLength: 1, maxLength: 60 })
      .map((words) => words.join(" ")),
  });
  fc.assert(
    fc.property(
      fc.array(fc.array(anyLine, { maxLength: 12 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 3, max: 90 }),
      (scenes, max) => {
        const given = scenes.map((lines) => sceneOf(...lines));
        const fitted = fitScript(given, max);
        expect(fitted.length).toBeGreaterThan(0);
        expect(sumSeconds(fitted)).toBeLessThanOrEqual(max + 1e-6);
        for (const { lines } of fitted) for (const { text } of lines) expect(text).toMatch(/[\p{L}\p{N}]/u);
      },
    ),
  );
});
