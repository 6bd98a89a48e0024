import type { Browser } from "playwright-core";

let shared: Promise<Browser> | null = null;

/** One browser for all test files of a process. Playwright ends it with the process. */
export async function shareBrowser(): Promise<Browser> {
  const running = await shared;
  // A browser that crashed is replaced.
  if (running?.isConnected() === true) return running;
  shared = launch().catch(failToLaunch);
  return await shared;
}

/** For tests that count the processes below this one: the next browser test launches another. */
export async function endSharedBrowser(): Promise<void> {
  const running = await shared;
  shared = null;
  await running?.close();
}

/** Loads the browser's driver only if there are browser tests. */
async function launch(): Promise<Browser> {
  const { launchBrowser } = await import("./browser.ts");
  return await launchBrowser();
}

/** The next call tries again. */
function failToLaunch(error: unknown): never {
  shared = null;
  throw error;
}
