// `npm run demo`: runs a gateway with months of history for its demo account, in a separate data folder.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { builds } from "./builds.mjs";
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
const serving: Promise<unknown> = import(join(builds.server.dir, "main.js"));
if (fresh !== null) await liveToday(fresh);
await serving;

/** A failure does not stop the gateway: a user may end the demo at any time. */
async function liveToday({ key }: FreshDemo): Promise<void> {
  await untilServing();
  tell("Creating today's images, videos, an avatar and a drama. The console shows them as they finish.");
  try {
    await liveDemoDay({ baseUrl: settings.base_url, key });
    tell(`The demo is complete after ${Math.round(performance.now() / 1000)} s.`);
  } catch (error) {
    tell(`Some of today's tasks failed. ${error instanceof Error ? error.message : error}`);
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
