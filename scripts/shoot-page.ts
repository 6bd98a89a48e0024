import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";

const mediaDir = join(import.meta.dirname, "../docs/media");
const pictureBytesMax = 150_000;

/** Takes a screenshot of a page for the docs, compressed as far as possible. */
export async function shootPage(page: Page, name: string): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.locator(".animate-pulse:visible").first().waitFor({ state: "detached" });
  const shot = await sharp(await page.screenshot({ animations: "disabled", caret: "hide" }))
    .png({ palette: true, compressionLevel: 9 })
    .toBuffer();
  if (shot.length > pictureBytesMax) throw new Error(`${name} has ${shot.length} bytes, which is too many.`);
  await writeFile(join(mediaDir, name), shot);
  console.log(`${name}: ${shot.length} bytes`);
}
