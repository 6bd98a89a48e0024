// `npm run demo`: a gateway whose demo account has months of history, on a data folder of its own.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { liveDemoDay } from "./demo/live-demo-day.ts";
import { demoDays, type FreshDemo, writeDemoHistory } from "./demo/write-demo-history.ts";

process.env.SLUICE_DATA_DIR ??= ".sluice-demo";
const settings = loadSettings();
const tell = (sentence: string): void => console.error(sentence);
const fresh = await writeDemoHistory(settings, tell);
tell(`
  The demo account has ${demoDays} days behind it. Sign in at ${settings.site_url} as demo@localhost; its password
  and its key are in ${join(settings.data_dir, "secrets")}.`);
process.argv.push("serve");
const serving = import("../src/main.ts");
if (fresh !== null) await liveToday(fresh);
await serving;

/** The gateway serves on whatever becomes of it: it is a demonstration, and somebody may end it in the middle. */
async function liveToday({ key }: FreshDemo): Promise<void> {
  await untilServing();
  tell("Today's pictures, films, an avatar and a drama are being made; the console shows them as they come.");
  try {
    await liveDemoDay({ baseUrl: settings.base_url, key });
    tell(`All of the demo is there, ${Math.round(performance.now() / 1000)} s after it was started.`);
  } catch (error) {
    tell(`Not all of today's tasks were made. ${error instanceof Error ? error.message : error}`);
  }
}

async function untilServing(): Promise<void> {
  const isReady = (): Promise<boolean> =>
    fetch(new URL("/readyz", settings.base_url)).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await wait(100);
}
