import { expect, test } from "vitest";
import { createCanvas } from "../scenes/scene.ts";
import { findShotKind, planImage } from "./plan-image.ts";
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
