import { expect, test } from "vitest";
import { parseShotPrompt, peopleMax } from "./shot-prompt.ts";

const kitchen =
  "Medium shot, slowly moving in. A small kitchen at night, warm lamp light. Anna leans on the table. Anna: about 30, red hair, green coat. Ben: tall, grey beard. Reference 1 shows Anna. Reference 2 shows Ben. No captions, no text, no watermark.";

test("a shot is parsed into its setting, its people with their images, and its camera", () => {
  expect(parseShotPrompt(kitchen, 2)).toEqual({
    isShot: true,
    setting: "Medium shot, slowly moving in. A small kitchen at night, warm lamp light. Anna leans on the table.",
    hasCaption: false,
    people: [
      { name: "Anna", appearance: "about 30, red hair, green coat.", photo: 0 },
      { name: "Ben", appearance: "tall, grey beard.", photo: 1 },
    ],
    distance: "medium",
    move: "in",
  });
});

test("a reference to a missing image is ignored", () => {
  expect(parseShotPrompt(kitchen, 1).people.map(({ photo }) => photo)).toEqual([0, null]);
  expect(parseShotPrompt("Reference 0 shows Anna.", 1).people).toEqual([{ name: "Anna", appearance: "", photo: null }]);
});

test.each([
  "A sea. No captions.",
  "A sea, no text",
  "A sea WITHOUT CAPTIONS",
  "A sea. no lettering please",
  "A sea without any text.",
])("no captions are requested: %s", (prompt) => {
  const { hasCaption, isShot, setting } = parseShotPrompt(prompt, 0);
  expect({ hasCaption, isShot }).toEqual({ hasCaption: false, isShot: true });
  expect(setting).toContain("A sea");
});

test.each(["A sea", "Style: bauhaus. A lighthouse.", "Anna: red hair", "A know-nothing texture", ""])(
  "any other prompt is only a setting: %j",
  (prompt) => {
    expect(parseShotPrompt(prompt, 3)).toMatchObject({ isShot: false, hasCaption: true, people: [], setting: prompt });
  },
);

test("labels, times and speech tags are not names; titles belong to a name; colons may be Chinese", () => {
  const names = (prompt: string) => parseShotPrompt(`${prompt} No text.`, 0).people.map(({ name }) => name);
  expect(names("Close-up: a hand. It is 7:30. Camera: fixed. Anna says: come here.")).toEqual([]);
  expect(names("INT. KITCHEN – NIGHT: the lamp burns.")).toEqual([]);
  expect(names("She waits… Anna: tall.")).toEqual(["Anna"]);
  expect(names("A room. Dr. Lee: tall. 安娜：三十岁，红发。本: 灰胡子。")).toEqual(["Dr. Lee", "安娜", "本"]);
});

test.each([
  ["Extreme close-up of Anna", "close"],
  ["Wide shot of the hall", "wide"],
  ["Establishing shot", "wide"],
  ["Two-shot at the bar", "medium"],
])("%s is %s", (setting, distance) => {
  expect(parseShotPrompt(`${setting}. No text.`, 0).distance).toBe(distance);
});

test.each([
  ["slowly moving in", "in"],
  ["moving out", "out"],
  ["pan left over the room", "left"],
  ["panning slowly to the right", "right"],
  ["still", "still"],
  ["a still life", null],
  ["an inner court", null],
])("%s moves the camera: %s", (words, move) => {
  expect(parseShotPrompt(`Medium shot, ${words}. No text.`, 0).move).toBe(move);
});

test("the number of people is limited, and a long prompt is parsed quickly", () => {
  const crowd = Array.from({ length: 30 }, (_, index) => `Man${index}: tall.`).join(" ");
  expect(parseShotPrompt(`A square. ${crowd} No text.`, 0).people).toHaveLength(peopleMax);
  for (const piece of ["no any ", "Reference 1 shows ", "A: ", ". a", "dr. "]) {
    expect(parseShotPrompt(piece.repeat(10_000), 1).setting.length).toBeLessThan(100_001);
  }
});
