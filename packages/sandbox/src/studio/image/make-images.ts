import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ImageRequest } from "../../../../../src/providers/generation.ts";
import { OrderRefusal, type ReportStudio, type StudioOrder } from "../studio-order.ts";
import { drawStill } from "./draw-still.ts";

/** Makes images of a prompt one after the other, and reports each when it is complete. */
export async function makeImages(order: StudioOrder & { request: ImageRequest }, report: ReportStudio): Promise<void> {
  const { prompt, width, height, count } = order.request;
  const photos = order.inputs.filter(({ role }) => role === "image").map(({ path }) => path);
  const source = await hashPhotos(photos);
  for (let index = 0; index < count; index += 1) {
    const image = await drawOne({ prompt, seed: `${prompt}\n${source}\n${index}`, width, height, photos });
    const name = `${index}.png`;
    await writeFile(join(order.folder, `${name}.part`), image);
    await rename(join(order.folder, `${name}.part`), join(order.folder, name));
    report({ kind: "output", type: "image", name });
    report({ kind: "progress", percent: Math.floor((100 * (index + 1)) / count) });
  }
}

async function drawOne(order: Parameters<typeof drawStill>[0]): Promise<Buffer> {
  if (order.photos.length === 0) return drawStill(order);
  try {
    return await drawStill(order);
  } catch (error) {
    throw new OrderRefusal(`An input image cannot be read: ${String(error)}`);
  }
}

/** Different input images give a different output, whatever their names. */
export async function hashPhotos(photos: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const photo of photos) hash.update(await readFile(photo));
  return photos.length === 0 ? "" : hash.digest("hex");
}
