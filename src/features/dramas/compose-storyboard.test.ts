import fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import {
  anyRolesAnswer,
  anyScriptAnswer,
  anyStoryboardAnswer,
  propertyRuns,
} from "../../../test/harness/dramas/drama-arbitraries.ts";
import { findUnkeepable, sampleRoles } from "../../../test/harness/dramas/drama-samples.ts";
import type { AskWriter } from "./ask-writer.ts";
import { checkDocument, estimateShotSeconds } from "./check-document.ts";
import { completeRoles } from "./compose-roles.ts";
import { completeScript } from "./compose-script.ts";
import { completeStoryboard, composeStoryboard } from "./compose-storyboard.ts";
import type { StoryboardAnswer } from "./drama-answers.ts";
import { type Line, type RolesDocument, type StoryboardDocument, storyboardDocumentSchema } from "./drama-documents.ts";

const voices = ["nova", "echo", "onyx"];
const noFiles = { getFile: () => Promise.reject(new Error("no file was asked for")) };
const checks = { accountId: "acct_1", voices, secondsMax: 60, root: "script" } as const;
const board = { aspectRatio: "16:9", secondsMax: 60 };

type AnsweredShot = StoryboardAnswer["shots"][number];

function shot(more: Partial<AnsweredShot> = {}): AnsweredShot {
  const looks = { prompt: "A room.", camera: "wide", duration: 3, characters: [] };
  return { scene: "scene-1", ...looks, line_numbers: [], ...more };
}

/** Roles of a script with the given number of short lines in each scene. */
function castOf(...counts: number[]): RolesDocument {
  let number = 0;
  const scenes = counts.map((count, index) => ({
    ...{ id: `scene-${index + 1}`, heading: "INT. ROOM", place: `Place ${index + 1}.`, time: "day", action: "Wind." },
    lines: Array.from({ length: count }, () => {
      number += 1;
      return { speaker: number % 2 === 0 ? "Ben" : "Anna", text: `Line ${number}` };
    }),
  }));
  return { ...sampleRoles, script: { ...sampleRoles.script, scenes } };
}

const complete = (shots: AnsweredShot[], cast: RolesDocument, more: Partial<typeof board> = {}) =>
  completeStoryboard({ shots }, cast, { ...board, ...more });
const sayAll = ({ shots }: StoryboardDocument): string[] => shots.flatMap(({ lines }) => lines.map(({ text }) => text));
const number = (count: number): string[] => Array.from({ length: count }, (_, index) => `Line ${index + 1}`);
const listLines = (lines: readonly Line[]): string[] => lines.map(({ text }) => text);

test("a shot has the lines it was assigned, and the storyboard has everything the film needs", () => {
  const document = complete(
    [shot({ line_numbers: [1] }), shot({ line_numbers: [2, 3], camera: " close " })],
    castOf(3),
  );
  expect(document).toMatchObject({
    ...{ object: "drama.storyboard", title: "The Lighthouse", episode: 3, language: "en", aspect_ratio: "16:9" },
    ...{ narrator_voice: "onyx", roles: sampleRoles.roles },
  });
  expect(document.shots.map(({ id, camera, lines }) => [id, camera, listLines(lines)])).toEqual([
    ["shot-1", "wide", ["Line 1"]],
    ["shot-2", "close", ["Line 2", "Line 3"]],
  ]);
  expect(document.shots.every(({ image_file_id }) => image_file_id === null)).toBe(true);
});

test("a forgotten line goes to the shot of the previous line, the first ones to the first shot", () => {
  const document = complete([shot({ line_numbers: [2] }), shot({ line_numbers: [4] })], castOf(5));
  expect(document.shots.map(({ lines }) => listLines(lines))).toEqual([
    ["Line 1", "Line 2", "Line 3"],
    ["Line 4", "Line 5"],
  ]);
});

test("a repeated or misordered line is spoken once and in its place", () => {
  const shots = [
    shot({ line_numbers: [3, 1] }),
    shot({ line_numbers: [1, 2, 3] }),
    shot({ line_numbers: [4, 99, -1] }),
  ];
  const document = complete(shots, castOf(4));
  expect(sayAll(document)).toEqual(number(4));
});

test("lines of another scene and shots of unknown scenes are ignored", () => {
  const shots = [
    shot({ scene: "scene-2", line_numbers: [1], prompt: "Second." }),
    shot({ scene: "nowhere", line_numbers: [1, 2] }),
    shot({ scene: "scene-1", line_numbers: [2], prompt: "First." }),
  ];
  const document = complete(shots, castOf(1, 1));
  expect(document.shots.map(({ scene, prompt, lines }) => [scene, prompt, listLines(lines)])).toEqual([
    ["scene-1", "First.", ["Line 1"]],
    ["scene-2", "Second.", ["Line 2"]],
  ]);
});

test("lines are numbered across scenes", () => {
  const second = [shot({ scene: "scene-2", line_numbers: [3] }), shot({ scene: "scene-2", line_numbers: [4] })];
  const document = complete([shot({ line_numbers: [1, 2] }), ...second], castOf(2, 2));
  expect(document.shots.map(({ lines }) => listLines(lines))).toEqual([["Line 1", "Line 2"], ["Line 3"], ["Line 4"]]);
});

test("a scene without shots gets one from its description", () => {
  const document = complete([shot({ prompt: "  " })], castOf(1, 0));
  expect(document.shots.map(({ scene, prompt }) => [scene, prompt])).toEqual([
    ["scene-1", "Place 1. Wind."],
    ["scene-2", "Place 2. Wind."],
  ]);
  expect(sayAll(document)).toEqual(["Line 1"]);
});

test("a scene without a description still gets an image", () => {
  const cast = castOf(0);
  const scenes = cast.script.scenes.map((scene) => ({ ...scene, heading: "", place: "", action: "" }));
  expect(complete([], { ...cast, script: { ...cast.script, scenes } }).shots[0]?.prompt).toBe("A quiet place.");
});

test("speakers are visible, first; others only if they have a role", () => {
  const document = complete([shot({ line_numbers: [2], characters: ["Ghost", "anna", "ANNA"] })], castOf(2));
  expect(document.shots[0]?.characters).toEqual(["Anna", "Ben"]);
});

test("no shot has more than twenty lines", () => {
  const document = complete([shot()], castOf(50), { secondsMax: 10_000 });
  expect(document.shots.map(({ lines }) => lines.length)).toEqual([20, 20, 10]);
  expect(sayAll(document)).toEqual(number(50));
});

test.each([
  [0, 1.5],
  [-4, 1.5],
  [2.5, 2.5],
  [1e9, 30],
  [Number.POSITIVE_INFINITY, 3],
])("a shot of %d seconds takes %d", (asked, kept) => {
  expect(complete([shot({ duration: asked })], castOf(0)).shots[0]?.duration).toBe(kept);
});

test("a film that is too long loses its pauses first, then its silent shots from the end, then its end", () => {
  const silent = (prompt: string, scene = "scene-1") => shot({ scene, duration: 10, prompt });
  const lines = [
    shot({ line_numbers: [1], prompt: "One" }),
    shot({ scene: "scene-2", line_numbers: [2], prompt: "Two" }),
  ];
  const shots = [silent("A"), ...lines, silent("B"), silent("C", "scene-2")];
  const prompts = (secondsMax: number) =>
    complete(shots, castOf(1, 1), { secondsMax }).shots.map((each) => each.prompt);
  const [first] = complete(shots, castOf(1, 1), { secondsMax: 60 }).shots;
  expect(first).toMatchObject({ prompt: "A", duration: 10 });
  // Each line takes 6 of 14 seconds and 0.8 more; the title takes 3.
  expect(complete(shots, castOf(1, 1), { secondsMax: 12 }).shots.map(({ duration }) => duration)).toEqual([
    2, 3, 2, 3, 2,
  ]);
  expect(prompts(12)).toEqual(["A", "One", "B", "Two", "C"]);
  expect(prompts(10)).toEqual(["A", "One", "B", "Two"]);
  expect(prompts(8)).toEqual(["A", "One", "Two"]);
  expect(prompts(6)).toEqual(["One", "Two"]);
  expect(prompts(5)).toEqual(["One"]);
  expect(prompts(1)).toEqual(["One"]);
});

test("a shot with more lines than fit loses its last ones", () => {
  const document = complete([shot({ line_numbers: number(20).map((_, index) => index + 1) })], castOf(20), {
    secondsMax: 10,
  });
  const seconds = document.shots.reduce((sum, each) => sum + estimateShotSeconds(each), 0);
  expect(seconds).toBeLessThanOrEqual(10);
  expect(sayAll(document)).toEqual(number(sayAll(document).length));
  expect(sayAll(document).length).toBeGreaterThan(0);
});

test("there are at most eighty shots, silent ones are dropped first", () => {
  const shots = Array.from({ length: 100 }, (_, index) => shot({ line_numbers: index < 50 ? [] : [index - 49] }));
  const document = complete(shots, castOf(50), { secondsMax: 10_000 });
  expect(document.shots).toHaveLength(80);
  expect(sayAll(document)).toEqual(number(50));
});

test("of more than eighty spoken shots, the first are kept", () => {
  const shots = Array.from({ length: 100 }, (_, index) => shot({ line_numbers: [index + 1] }));
  expect(sayAll(complete(shots, castOf(100), { secondsMax: 10_000 }))).toEqual(number(80));
});

const anyCast = fc.tuple(anyScriptAnswer, anyRolesAnswer).map(([written, answer]) => {
  const script = completeScript(written, { title: "T", episode: 1, characters: [] });
  return completeRoles(answer, { script, characters: [], voices });
});
const anySecondsMax = fc.constantFrom(5, 60, 180, 100_000);

test("for any model response, the storyboard is a valid input document", async () => {
  await fc.assert(
    fc.asyncProperty(anyStoryboardAnswer, anyCast, anySecondsMax, async (answer, cast, secondsMax) => {
      const document = completeStoryboard(answer, cast, { aspectRatio: "9:16", secondsMax });
      expect(Value.Errors(storyboardDocumentSchema, document)).toEqual([]);
      await checkDocument(noFiles, document, { ...checks, secondsMax });
    }),
    propertyRuns,
  );
});

test("for any model response, lines are spoken once and in order, and only the end can be missing", () => {
  fc.assert(
    fc.property(
      anyStoryboardAnswer,
      fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 3 }),
      (answer, counts) => {
        const cast = castOf(...counts);
        const said = sayAll(completeStoryboard(answer, cast, { ...board, secondsMax: 100_000 }));
        expect(said).toEqual(number(counts.reduce((sum, count) => sum + count, 0)));
        const short = sayAll(completeStoryboard(answer, cast, board));
        expect(short).toEqual(said.slice(0, short.length));
      },
    ),
    propertyRuns,
  );
});

test("for any model response, the storyboard contains nothing that cannot be stored", () => {
  fc.assert(
    fc.property(anyStoryboardAnswer, (answer) => {
      expect(findUnkeepable(completeStoryboard(answer, sampleRoles, board))).toBeNull();
    }),
    propertyRuns,
  );
});

test("the question contains the roles and the lines, numbered across scenes", async () => {
  const asked: Parameters<AskWriter>[0][] = [];
  const ask = (async (question: Parameters<AskWriter>[0]) => {
    asked.push(question);
    return { shots: [] };
  }) as unknown as AskWriter;
  await composeStoryboard(ask, castOf(2, 1), { ...board, modelId: "director", signal: AbortSignal.timeout(60_000) });
  expect(asked).toMatchObject([{ modelId: "director", name: "drama_storyboard" }]);
  expect(asked[0]?.facts).toMatchObject({
    ...{ title: "The Lighthouse", aspect_ratio: "16:9", film_seconds_max: 60, shots_max: 80 },
    roles: [
      { name: "Anna", appearance: "Grey coat." },
      { name: "Ben", appearance: "" },
    ],
    scenes: [{ lines: [{ number: 1 }, { number: 2, speaker: "Ben" }] }, { lines: [{ number: 3, text: "Line 3" }] }],
  });
});
