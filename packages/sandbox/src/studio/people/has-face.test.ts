// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { drawStill } from "../image/draw-still.ts";
import { hasFace } from "./has-face.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-faces-"));
afterAll(() => rmSync(folder, { recursive: true }));

const pages = join(import.meta.dirname, "../../../../../web/src/pages");

async function draw(prompt: string, [width, height]: readonly [number, number]): Promise<string> {
  const path = join(folder, "drawn.png");
  writeFileSync(path, await drawStill({ prompt, seed: prompt, width, height, photos: [] }));
  return path;
}

test.each([
  "landing/media/avatar-poster.webp",
  "playground/media/sample-man.webp",
  "playground/media/sample-woman.webp",
])("the sample %s has a face", { tags: "extended" }, async (name) => {
  expect(await hasFace(join(pages, name))).toBe(true);
});

test("a portrait has a face, and what is no image is an error", async () => {
  expect(await hasFace(await draw("A nurse, head and shoulders, soft light", [512, 384]))).toBe(true);
  const path = join(folder, "text.png");
  writeFileSync(path, "no image");
  await expect(hasFace(path)).rejects.toThrow();
});

test("a plain colour has no face", async () => {
  const path = join(folder, "plain.png");
  await sharp({ create: { width: 300, height: 500, channels: 3, background: "#345678" } }).toFile(path);
  expect(await hasFace(path)).toBe(false);
});

test.for([
  ["Portrait of an old man with a white beard", [512, 512]],
  // The frame of a drama, from which it makes an avatar.
  ["A train station in the evening, wide establishing shot. Mara: about 30, short dark hair. No text.", [1280, 720]],
] as const)("%s has a face", { tags: "extended" }, async ([prompt, size]) => {
  expect(await hasFace(await draw(prompt, size))).toBe(true);
});

test.each(["A lighthouse on a stormy coast at dusk", "A red sports car on a city street"])(
  "%s has no face",
  { tags: "extended" },
  async (prompt) => {
    expect(await hasFace(await draw(prompt, [512, 384]))).toBe(false);
  },
);
