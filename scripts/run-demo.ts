// `npm run demo`: a gateway whose demo account has months of history, on a data folder of its own.
import { join } from "node:path";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { demoDays, writeDemoHistory } from "./demo/write-demo-history.ts";

process.env.SLUICE_DATA_DIR ??= ".sluice-demo";
const settings = loadSettings();
await writeDemoHistory(settings, (sentence) => console.error(sentence));
console.error(`
  The demo account has ${demoDays} days behind it. Sign in at ${settings.site_url} as demo@localhost; its password
  and its key are in ${join(settings.data_dir, "secrets")}.`);
process.argv.push("serve");
await import("../src/main.ts");
