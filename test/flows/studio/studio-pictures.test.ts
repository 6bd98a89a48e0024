// @module-tag extended
import sharp from "sharp";
import { expect, test } from "vitest";
import { drawPortrait } from "../../harness/media/portrait.ts";
import { compareBytes, createCall, createInput, openTestStudio, studioMsMax } from "../../harness/media/test-studio.ts";

const picture = { type: "image", prompt: "A lighthouse by the sea", width: 320, height: 240, count: 1 } as const;

/** Small and blurred, to compare images by their overall look. */
function shrink(image: Buffer): Promise<Buffer> {
  return sharp(image).resize(16, 16, { fit: "fill" }).removeAlpha().raw().toBuffer();
}

test("an image is a PNG of exactly the requested size", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  for (const [width, height] of [
    [512, 512],
    [333, 517],
    [64, 48],
  ] as const) {
    const [image = Buffer.alloc(0)] = await studio.make({ ...picture, width, height });
    expect(await sharp(image).metadata()).toMatchObject({ format: "png", width, height, hasAlpha: false });
  }
});

test("the same request gives the same bytes, also in another process, and other prompts other images", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  await using other = await openTestStudio();
  const [first = Buffer.alloc(0)] = await studio.make(picture);
  const [again = Buffer.alloc(1)] = await other.make(picture);
  expect(first.equals(again)).toBe(true);
  const prompts = [picture.prompt, "A lighthouse by the sea at noon", "Neon city", "Misty forest", "qwertz", "qwertzu"];
  const small: Buffer[] = [];
  for (const prompt of prompts)
    small.push(await shrink((await studio.make({ ...picture, prompt }))[0] ?? Buffer.alloc(0)));
  for (const [index, one] of small.entries()) {
    for (const another of small.slice(index + 1)) expect(compareBytes(one, another)).toBeGreaterThan(6);
  }
});

test("the images of one prompt differ from each other, and their number is the requested one", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const images = await studio.make({ ...picture, count: 3 });
  expect(images).toHaveLength(3);
  const [one, two, three] = await Promise.all(images.map(shrink));
  expect(compareBytes(one ?? Buffer.alloc(0), two ?? Buffer.alloc(0))).toBeGreaterThan(3);
  expect(compareBytes(two ?? Buffer.alloc(0), three ?? Buffer.alloc(0))).toBeGreaterThan(3);
});

test("the words of the script leave no trace in the image", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const plain = await studio.make(picture);
  const scripted = await studio.make({ ...picture, prompt: `${picture.prompt} [[delay:0]] [[uncancelable]]` });
  expect(scripted[0]?.equals(plain[0] ?? Buffer.alloc(0))).toBe(true);
});

test("an input image is visible in the result, in other colours", { timeout: studioMsMax }, async () => {
  await using studio = await openTestStudio();
  const half = { create: { width: 200, height: 240, channels: 3, background: "#ffffff" } } as const;
  const dark = await sharp({ ...half, create: { ...half.create, width: 100, background: "#101010" } })
    .png()
    .toBuffer();
  const photo = await sharp(half)
    .composite([{ input: dark, left: 0, top: 0 }])
    .png()
    .toBuffer();
  const request = { ...picture, prompt: "golden hour", width: 200, height: 240 };
  const [image = Buffer.alloc(0)] = await studio.make(request, [createInput("image", photo, "image/png")]);
  const { data } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number): number[] => [...data.subarray((y * 200 + x) * 3, (y * 200 + x) * 3 + 3)];
  const tone = (pixel: number[]): number => pixel.reduce((sum, value) => sum + value, 0) / 3;
  expect(tone(at(150, 100)) - tone(at(50, 100))).toBeGreaterThan(60);
  expect(Math.max(...at(150, 100)) - Math.min(...at(150, 100))).toBeGreaterThan(3);
  const [second = Buffer.alloc(0)] = await studio.make(request, [
    createInput("image", await drawPortrait(200, 240), "image/png"),
  ]);
  expect(compareBytes(await shrink(image), await shrink(second))).toBeGreaterThan(10);
});

test("an input that is not an image is refused as invalid, and breaks nothing", {
  timeout: studioMsMax,
}, async () => {
  await using studio = await openTestStudio();
  const end = await studio.finish(
    createCall(picture, [createInput("image", Buffer.from("GIF89a and no more"), "image/gif")]),
  );
  expect(end).toMatchObject({ kind: "failed", error: { kind: "rejected" } });
  expect(await studio.make(picture)).toHaveLength(1);
});

test.each([
  "हिन्दी में एक सुंदर चित्र",
  "ภาพวาดที่สวยงาม",
  '<b>&amp;</b> "quotes" ]]>',
  "",
  "🜨".repeat(50),
  "\u0000\u202e tricky",
  "مرحبا بالعالم",
])("a prompt in any script gives an image: %j", { timeout: studioMsMax }, async (prompt) => {
  await using studio = await openTestStudio();
  const [image = Buffer.alloc(0)] = await studio.make({ ...picture, prompt });
  expect(await sharp(image).metadata()).toMatchObject({ width: 320, height: 240 });
});
