import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const chromiumPath = "/usr/bin/chromium";
const headlessShellPath = "/usr/bin/chromium-headless-shell";

/** Whether the machine has a browser; without one, browser tests are skipped. */
export const hasBrowser = existsSync(chromiumPath);

type LaunchOptions = {
  switches?: readonly string[];
  /**
   * The full browser, for its own decisions, such as which addresses a page may reach. Otherwise the headless shell
   * renders the same pages for a third of the CPU time, if it is installed.
   */
  isWhole?: boolean;
  /** Scrollbars that take room, as on most desktops; automated browsers hide them. */
  hasScrollbars?: boolean;
};

export async function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  const { switches = [], isWhole = false, hasScrollbars = false } = options;
  return await chromium.launch({
    ...(hasScrollbars ? { ignoreDefaultArgs: ["--hide-scrollbars"] } : {}),
    executablePath: !isWhole && existsSync(headlessShellPath) ? headlessShellPath : chromiumPath,
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
