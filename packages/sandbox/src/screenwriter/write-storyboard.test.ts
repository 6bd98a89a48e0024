import fc from "fast-check";
import { expect, test } from "vitest";
import type { AskedScene } from "./drama-question.ts";
import { estimateSpeechSeconds } from "./story-text.ts";
import { type StoryboardQuestion, writeStoryboard } from "./write-storyboard.ts";

type Part = Partial<Omit<AskedScene, "lines">> & { lines?: readonly (readonly [string | null, string])[] };

function ask(parts: readonly Part[], rest: Partial<StoryboardQuestion> = {}): StoryboardQuestion {
  let number = 0;
  const scenes = parts.map(({ lines = [], ...part }, index) => ({
    id: `scene-${index + 1}`,
    heading: "INT. KITCHEN - NIGHT",
    place: "A kitchen at night.",
    time: "night",
    action: "Anna leans on the table.",
    ...part,
    lines: lines.map(([speaker, text]) => {
      number += 1;
      return { number, speaker, text };
    }),
  }));
  return { filmSecondsMax: 60, shotsMax: 20, roleNames: ["Anna", "Ben"], scenes, ...rest };
}

const page: readonly Part[] = [
  {
    action: "ANNA (30, red coat) leans on the table. A kettle whistles.",
    lines: [
      ["Anna", "It came this morning, and I have not slept since."],
      ["Ben", "What did?"],
      ["Anna", "The letter."],
      ["Ben", "You should have called me at once, you know that."],
    ],
  },
  {
    heading: "EXT. SEASIDE - DAWN",
    place: "The seaside at dawn.",
    time: "dawn",
    action: "They walk along the water.",
    lines: [
      [null, "At dawn they walked along the sea."],
      ["Anna", "I will not open it, whatever he wrote to me."],
    ],
  },
];

test("a page of a script has a view of each place, a shot for each turn, and all lines in order", () => {
  const { shots } = writeStoryboard(ask(page));
  expect(shots).toEqual([
    {
      scene: "scene-1",
      prompt: "A kitchen at night, warm lamp light. Anna leans on the table.",
      camera: "wide establishing shot, slow pan right",
      duration: 3,
      characters: ["Anna"],
      line_numbers: [],
    },
    {
      scene: "scene-1",
      prompt: "A kitchen at night, warm lamp light. Anna looks up and speaks.",
      camera: "close-up, slowly moving in",
      duration: 4.1,
      characters: ["Anna"],
      line_numbers: [1],
    },
    {
      scene: "scene-1",
      prompt: "A kitchen at night, warm lamp light. Ben and Anna face each other, talking.",
      camera: "two-shot, still",
      duration: 2.6,
      characters: ["Ben", "Anna"],
      line_numbers: [2, 3],
    },
    {
      scene: "scene-1",
      prompt: "A kitchen at night, warm lamp light. Ben speaks softly, eyes wide.",
      camera: "medium shot, still",
      duration: 4.1,
      characters: ["Ben"],
      line_numbers: [4],
    },
    {
      scene: "scene-2",
      prompt: "The seaside at dawn, pale first light. At dawn they walked along the sea.",
      camera: "wide establishing shot, slowly moving in",
      duration: 3,
      characters: ["Anna"],
      line_numbers: [5],
    },
    {
      scene: "scene-2",
      prompt: "The seaside at dawn, pale first light. Anna leans closer and speaks.",
      camera: "close-up, still",
      duration: 3.7,
      characters: ["Anna"],
      line_numbers: [6],
    },
  ]);
});

test("without time for views there are none, and the lines stay", () => {
  const { shots } = writeStoryboard(ask(page, { filmSecondsMax: 10 }));
  expect(shots.every(({ line_numbers }) => line_numbers.length > 0)).toBe(true);
  expect(shots.flatMap(({ line_numbers }) => line_numbers)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a long dialogue is merged into two-shots", () => {
  const lines = Array.from(
    { length: 30 },
    (_, index) => [index % 2 === 0 ? "Anna" : "Ben", "A short sentence of mine."] as const,
  );
  const { shots } = writeStoryboard(ask([{ lines }], { filmSecondsMax: 90 }));
  expect(shots.length).toBeLessThanOrEqual(16);
  expect(shots.some(({ characters, camera }) => characters.length === 2 && camera.startsWith("two-shot"))).toBe(true);
  expect(Math.max(...shots.map(({ duration }) => duration))).toBeLessThanOrEqual(9);
});

test("a continuing speaker stays in the frame for a limited time", () => {
  const { shots } = writeStoryboard(
    ask([
      {
        lines: [
          ["Anna", "One thing is clear to me."],
          ["Anna", "I stay."],
          ["Anna", "a".repeat(100)],
        ],
      },
    ]),
  );
  expect(shots.map(({ line_numbers }) => line_numbers)).toEqual([[], [1, 2], [3]]);
});

test("a short line and its answer share a shot, but not across scenes", () => {
  const [asked, answered] = [["Anna", "Now?"] as const, ["Ben", "No."] as const];
  const listNumbers = (parts: readonly Part[]): number[][] =>
    writeStoryboard(ask(parts, { filmSecondsMax: 2 })).shots.map(({ line_numbers }) => line_numbers);
  expect(listNumbers([{ lines: [asked, answered] }])).toEqual([[1, 2]]);
  expect(listNumbers([{ lines: [asked] }, { lines: [answered] }])).toEqual([[1], [2]]);
});

test("a scene without lines is shown in silence", () => {
  const { shots } = writeStoryboard(ask([{}, { lines: [["Ben", "Hello there."]] }]));
  expect(shots[0]).toMatchObject({ scene: "scene-1", line_numbers: [], duration: 3 });
});

test('"they" are the speakers of the scene', () => {
  const { shots } = writeStoryboard(
    ask([
      {
        action: "They wait.",
        lines: [
          ["Anna", "Now?"],
          ["Ben", "Not yet, my friend."],
        ],
      },
    ]),
  );
  expect(shots[0]?.characters).toEqual(["Anna", "Ben"]);
  const after = writeStoryboard(
    ask([
      {
        action: "",
        lines: [
          ["Ben", "I go now, and I will not be back."],
          [null, "He left."],
        ],
      },
    ]),
  );
  expect(after.shots.at(-1)?.characters).toEqual(["Ben"]);
});

test("only roles are shown, in any spelling", () => {
  const { shots } = writeStoryboard(
    ask([
      {
        lines: [
          ["ANNA", "Hello."],
          ["Stranger", "Hello to you, whoever you are."],
        ],
      },
    ]),
  );
  expect(shots.flatMap(({ characters }) => characters)).toEqual(["Anna", "Anna"]);
});

test.each([
  [{ place: "咖啡馆，夜。", time: "night", heading: "第一场 咖啡馆 夜 内" }, "A café at night, warm lamp light."],
  [{ place: "海边，日。", time: "day", heading: "" }, "A beach by day, soft daylight."],
  [{ place: "老城咖啡馆，夜。", time: "night", heading: "" }, "老城 café at night, warm lamp light."],
  [{ place: "Im Wald.", time: "dusk", heading: "" }, "Im Wald at dusk, the last light of the day."],
  [
    { place: "A small harbour in winter, snow on the boats.", time: "evening", heading: "" },
    "A small harbour in winter, snow on the boats. Golden evening light.",
  ],
  [
    { place: "A keeper lights the lamp for the last time.", time: "day", heading: "" },
    "A keeper lights the lamp for the last time. Soft daylight.",
  ],
  [{ place: "", time: "", heading: "INT. ATTIC - NIGHT" }, "An attic at night, warm lamp light."],
  [{ place: "", time: "", heading: "" }, "An open landscape by day, soft daylight."],
])("a place is described in English, with its light: %j", (part, painted) => {
  const { shots } = writeStoryboard(ask([{ ...part, action: "" }]));
  expect(shots[0]?.prompt).toBe(painted);
});

test("every line is spoken once and in order, within the limits of shots and time", () => {
  const anyLine = fc.tuple(fc.constantFrom("Anna", "Ben", "Eve", null), fc.string({ maxLength: 120 }));
  const anyScene = fc.record({
    action: fc.string({ maxLength: 80 }),
    place: fc.string({ maxLength: 40 }),
    time: fc.string({ maxLength: 8 }),
    lines: fc.array(anyLine, { maxLength: 12 }),
  });
  fc.assert(
    fc.property(
      fc.array(anyScene, { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 120 }),
      (parts, shotsMax, filmSecondsMax) => {
        const asked = ask(parts, { shotsMax, filmSecondsMax });
        const { shots } = writeStoryboard(asked);
        const lines = asked.scenes.flatMap((scene) => scene.lines);
        expect(shots.flatMap(({ line_numbers }) => line_numbers)).toEqual(lines.map(({ number }) => number));
        expect(shots.length).toBeGreaterThan(0);
        expect(shots.length).toBeLessThanOrEqual(shotsMax);
        const ids = asked.scenes.map(({ id }) => id);
        for (const shot of shots) {
          expect(ids).toContain(shot.scene);
          expect(shot.prompt).not.toBe("");
          expect(shot.duration).toBeGreaterThanOrEqual(1);
          expect(shot.duration).toBeLessThanOrEqual(30);
        }
        const spoken = lines.reduce((sum, { text }) => sum + estimateSpeechSeconds(text), 0);
        const short = shots.filter(({ duration }) => duration === 1).length;
        const total = shots.reduce((sum, { duration }) => sum + duration, 0);
        expect(total).toBeLessThanOrEqual(Math.max(filmSecondsMax, spoken, 2.5) + 0.4 * short + 1e-6);
      },
    ),
  );
});
