import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** For looking at, if `PICTURES` names a folder. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const { PICTURES: folder } = process.env;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
