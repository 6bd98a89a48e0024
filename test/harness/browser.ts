import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const chromiumPath = "/usr/bin/chromium";

/** Whether the machine has a browser; without one, browser tests are skipped. */
export const hasBrowser = existsSync(chromiumPath);

export async function launchBrowser(switches: readonly string[] = []): Promise<Browser> {
  return await chromium.launch({
    executablePath: chromiumPath,
    // Chromium's own sandbox cannot be set up by root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      ...switches,
    ],
  });
}
