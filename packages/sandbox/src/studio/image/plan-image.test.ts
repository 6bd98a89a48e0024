import { expect, test } from "vitest";
import { createCanvas } from "../scenes/scene.ts";
import { findWord, formWords } from "../scenes/scene-words.ts";
import { findSubjects, subjectWords } from "../scenes/subject-words.ts";
import { everydayPrompts } from "./everyday-prompts.ts";
import { findNamedKind, findShotKind, planImage } from "./plan-image.ts";
import { parseShotPrompt } from "./shot-prompt.ts";

const canvas = createCanvas(320, 180);

function planShot(prompt: string) {
  return planImage(parseShotPrompt(`${prompt} No captions.`, 0), prompt, canvas);
}

test.each([
  ["A small kitchen at night, warm lamp light. Anna leans on the table.", "kitchen"],
  ["A café in the rain.", "cafe"],
  ["The bar of the hotel. Ben waves.", "cafe"],
  ["A bedroom at dawn. She leaves.", "bedroom"],
  ["An office by day, with a view over the city.", "office"],
  ["The living room. A dark night outside the window.", "street"],
  ["A living room, stars in the sky.", "parlour"],
  ["On the train, the sea passes by.", "carriage"],
  ["A street at night.", "street"],
  ["A dark forest in the mist.", "forest"],
  ["The beach. Waves.", "sea"],
  ["The city from above, at night.", "city"],
  ["A spaceship near a planet.", "space"],
  ["The desert at noon.", "desert"],
  ["A mountain lake.", "mountains"],
  ["Anna and Ben look at each other. Night.", "parlour"],
  ["Outside, it snows.", "street"],
  ["A platform by day. The last train leaves.", "station"],
  ["厨房，夜晚", "kitchen"],
  ["咖啡馆里", "cafe"],
])("%s happens in: %s", (setting, kind) => {
  expect(findShotKind(setting)).toBe(kind);
});

test("a place looks the same in every shot, and another time of day has another light", () => {
  const first = planShot(
    "Close-up. A kitchen at night. Anna waits. Anna: red hair, green coat. Reference 1 shows Anna.",
  );
  const second = planShot(
    "Wide shot, pan left. Ben comes into the kitchen at night. Ben: tall, purple hat, in snow-white.",
  );
  const morning = planShot("Close-up. A kitchen in the morning. Anna waits. Anna: red hair, green coat.");
  expect(second).toEqual(first);
  expect(morning.palette.sky).not.toEqual(first.palette.sky);
});

test('"day" is a time of day, and evening has lamps inside and sun outside', () => {
  expect(planShot("An office by day.").palette).toEqual(planShot("An office at noon.").palette);
  expect(planShot("An office in the evening.").palette).toEqual(planShot("An office at dusk.").palette);
  expect(planShot("A street in the evening.").palette).toEqual(planShot("A street at sunset.").palette);
});

test("people who are added to a scene are not drawn twice", () => {
  const alone = planShot("A meadow at noon. A man walks.");
  const cast = planShot("A meadow at noon. A man walks. Ben: tall.");
  expect(cast.scene.layers).not.toEqual(alone.scene.layers);
});

test("rain is visible through a window and audible", () => {
  const dry = planShot("A kitchen, stormy.");
  const wet = planShot("A kitchen, stormy, rain.");
  expect(wet.scene.sound).toBe("rain");
  expect(dry.scene.sound).not.toBe("rain");
  expect(JSON.stringify(wet.scene.layers).length).toBeGreaterThan(JSON.stringify(dry.scene.layers).length);
});

test.each(everydayPrompts)("%s shows: %s", (prompt, subject) => {
  expect(findSubjects(prompt)[0]?.subject ?? null).toBe(subject);
});

test.each([
  ["A flat, two-colour travel poster of a lighthouse on a cliff at dusk, wide empty sky for a headline", "poster"],
  ["A logo of a fox in the forest", "poster"],
  ["Travel poster of a mountain lake", "mountains"],
  ["Bauhaus poster with circles", "poster"],
  ["Head and shoulders portrait of a ship's carpenter in her fifties", "portrait"],
  ["Portrait of a dog", "still"],
  ["A ceramic pour-over coffee set on a pale oak table, shallow depth of field", "still"],
  ["Macro shot of honey poured over fresh figs, warm kitchen light", "still"],
  ["A picnic in the park with a cake", "meadow"],
  ["A train in the mountains", "mountains"],
  ["Inside a train at night", "carriage"],
  ["A train at the station", "station"],
  ["A yellow school bus", null],
  ["A bright loft apartment with plants at the window", "parlour"],
])("%s is drawn as: %s", (prompt, kind) => {
  expect(findNamedKind(prompt, findSubjects(prompt), findWord(formWords, prompt))).toBe(kind);
});

test("a colour belongs to the subject after it, and a longer name hides the shorter one", () => {
  expect(findSubjects("A red fishing boat, gulls over the green sea")).toEqual([
    { subject: "boat", colour: "#c0392b" },
    { subject: "birds", colour: null },
  ]);
  expect(findSubjects("A pour-over coffee set").map(({ subject }) => subject)).toEqual(["coffeepot"]);
});

test("every subject can be drawn in every scene", () => {
  const places = ["", "poster", "logo", "at the station", "in a kitchen", "in the city", "by the sea", "in space"];
  for (const [subject, words] of Object.entries(subjectWords)) {
    const name = /[a-z]{3,}/.exec(words.source)?.[0] ?? subject;
    for (const place of places) {
      const { scene } = planImage(parseShotPrompt(`${name} ${place}`, 0), name, canvas);
      expect(JSON.stringify(scene.layers)).not.toMatch(/NaN|undefined/);
    }
  }
});

test("the shots of one place differ by what they tell, in the same light", () => {
  const shots = [
    "Noor runs down the stairs and sees the doors close.",
    "The platform is empty but for an old man with a cello case.",
    "He tells her that the last train is never the last one.",
    "When he stops, a light appears in the tunnel.",
  ].map((told) => planShot(`A platform by day, soft daylight. ${told}`));
  expect(new Set(shots.map(({ scene }) => JSON.stringify(scene.layers))).size).toBe(4);
  expect(new Set(shots.map(({ palette }) => JSON.stringify(palette))).size).toBe(1);
});
