// Takes the docs' screenshots of the console, from a temporary gateway with the demo account.
// Run it after a visual change of the pages: node scripts/shoot-console.ts
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Page } from "playwright-core";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { launchBrowser } from "../test/harness/site/browser.ts";
import { liveDemoDay } from "./demo/live-demo-day.ts";
import { writeDemoHistory } from "./demo/write-demo-history.ts";
import { shootPage } from "./shoot-page.ts";
import { startOwnGateway } from "./start-own-gateway.ts";

const pages = [
  { path: "/", name: "console-landing.png" },
  { path: "/console", name: "console-overview.png" },
  { path: "/console/usage", name: "console-usage.png" },
  { path: "/console/requests", name: "console-requests.png" },
  { path: "/console/tasks", name: "console-tasks.png" },
  { path: "/console/playground", name: "console-playground.png" },
  { path: "/docs/reference/create-chat-completion", name: "site-reference.png" },
];

execFileSync(process.execPath, [join(import.meta.dirname, "build-web.ts")], { stdio: "inherit" });
const folder = mkdtempSync(join(tmpdir(), "shoot-console-"));
const port = Number(await findFreePort());
const siteUrl = `http://localhost:${port}`;
const settings = {
  ...loadSettings({ environment: {}, directory: folder }),
  ...{ data_dir: join(folder, "data"), port, host: "localhost", site_url: siteUrl, base_url: `${siteUrl}/v1` },
};
const fresh = await writeDemoHistory(settings, console.log);
const gateway = await startOwnGateway(settings);
const day = fresh === null ? null : await liveDemoDay({ baseUrl: settings.base_url, key: fresh.key });
const browser = await launchBrowser();
try {
  const viewport = { width: 1440, height: 900 };
  const page = await browser.newPage({ baseURL: siteUrl, viewport, colorScheme: "light" });
  await page.goto("/sign-in");
  await page.getByLabel("E-mail address").fill("demo@localhost");
  const password = readFileSync(join(settings.data_dir, "secrets/demo-password"), "utf8").trim();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  for (const { path, name } of pages) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await untilPainted(page);
    await shootPage(page, name);
  }
} finally {
  await browser.close();
  await gateway.close();
  await day?.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Waits for the visible images: thumbnails are rendered on first request. */
async function untilPainted(page: Page): Promise<void> {
  const isPainted =
    "!document.querySelector('#site > [inert], .animate-pulse') && [...document.images].every((image) => image.getBoundingClientRect().top > innerHeight || image.complete)";
  while (!(await page.evaluate(isPainted))) await wait(100);
}
