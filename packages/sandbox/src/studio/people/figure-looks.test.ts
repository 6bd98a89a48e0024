import { expect, test } from "vitest";
import { chooseLooks } from "./figure-looks.ts";

const [red, blond, grey, green, blue, black] = ["#a2472a", "#d6ad62", "#9a9894", "#3f7050", "#36558a", "#2b2a30"];

test.each([
  ["about 30, red hair, green coat", { hair: red, clothes: green, garment: "coat" }],
  [
    "tall, grey beard, dark blue sweater",
    { hair: grey, clothes: blue, beard: "full", garment: "sweater", height: 1.07 },
  ],
  [
    "long blonde hair, black suit and a tie, glasses",
    { hair: blond, hairstyle: "long", clothes: black, garment: "suit", hasGlasses: true },
  ],
  ["a bald man with a moustache and a hat", { hairstyle: "bald", beard: "moustache", hasHat: true }],
  ["an old woman, hair in a bun, blue dress", { hairstyle: "bun", garment: "dress", clothes: blue, isOld: true }],
  ["a boy of 9, green eyes, curly", { hairstyle: "curly", height: 0.78 }],
  ["三十岁，红色的头发，绿色外套", { hair: red, clothes: green, garment: "coat" }],
])("%s is drawn as described", (appearance, looks) => {
  expect(chooseLooks("Somebody", appearance)).toMatchObject(looks);
});

test("the colour of eyes is not that of clothes", () => {
  const plain = chooseLooks("Anna", "about 30");
  expect(chooseLooks("Anna", "about 30, green eyes").clothes).toBe(plain.clothes);
});

test("the same description looks the same, and different names are distinguishable", () => {
  expect(chooseLooks("Ben", "tall")).toEqual(chooseLooks("ben", "tall"));
  const looks = ["Ben", "Anna", "Clara", "Tim", "Omar", "Yuki"].map((name) => JSON.stringify(chooseLooks(name, "")));
  expect(new Set(looks).size).toBe(6);
});
