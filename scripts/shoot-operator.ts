// Takes the docs' pictures of the operators' pages, from a temporary gateway with the demo's history.
// Run it after a visual change: node scripts/shoot-operator.ts
// With a folder, takes every page in both widths and themes instead, to look at: node scripts/shoot-operator.ts /tmp/shots
// With a second word, from a gateway without history: node scripts/shoot-operator.ts /tmp/shots empty
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { grantOperator } from "../src/features/admin/index.ts";
import { loadSettings } from "../src/platform/config/load-settings.ts";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { onHost } from "../test/harness/admin/admin-visitor.ts";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { launchBrowser } from "../test/harness/site/browser.ts";
import { readBase32, showTotp } from "../test/harness/site/totp-app.ts";
import { writeDemoHistory } from "./demo/write-demo-history.ts";
import { shootPage } from "./shoot-page.ts";
import { startOwnGateway } from "./start-own-gateway.ts";

/** The docs' pictures. A word in braces is the first such object of a list. */
const pictures = [
  { path: "today", name: "operator-today.png" },
  { path: "accounts/{id}", name: "operator-account.png" },
  { path: "requests/{id}", name: "operator-request.png" },
  { path: "money?view=revenue&by=month", name: "operator-revenue.png" },
  { path: "upstreams", name: "operator-upstreams.png" },
];

const places = [
  ...["today", "accounts", "setup", "search?q=demo", "work", "work?view=deliveries", "work?view=queues"],
  ...[
    "work?view=storage",
    "requests",
    "alarms",
    "alarms?view=rules",
    "incidents",
    "abuse",
    "upstreams",
    "upstreams/add",
  ],
  ...["catalog", "catalog/history", "audit", "money", "money?view=reversals", "money?view=documents"],
  ...["money?view=entries", "money?view=revenue", "money?view=revenue&by=month", "money?view=books"],
  ...["money?view=margins", "money?view=codes", "money?view=frozen", "money?view=ledger"],
];

const [folder, kind] = process.argv.slice(2);
const email = "demo@localhost";
const restMs = 300;

execFileSync(process.execPath, [join(import.meta.dirname, "build-web.ts")], { stdio: "inherit" });
const ownFolder = mkdtempSync(join(tmpdir(), "shoot-operator-"));
const port = Number(await findFreePort());
const siteUrl = `http://localhost:${port}`;
const settings = {
  ...loadSettings({ environment: {}, directory: ownFolder }),
  ...{ data_dir: join(ownFolder, "data"), port, host: "localhost", site_url: siteUrl, base_url: `${siteUrl}/v1` },
};
if (kind !== "empty") await writeDemoHistory(settings, console.log);
const gateway = await startOwnGateway(settings);
const browser = await launchBrowser();
try {
  const page = await openPage(browser, { width: 1440, height: 900 });
  await signIn(page);
  if (folder === undefined) await shootPictures(page);
  else await shootEverything(page, folder);
} finally {
  await browser.close();
  await gateway.close();
  rmSync(ownFolder, { recursive: true, force: true });
}

async function openPage(from: Browser, viewport: { width: number; height: number }): Promise<Page> {
  return await from.newPage({ baseURL: siteUrl, viewport, colorScheme: "light" });
}

/** The demo's owner becomes an operator with an authenticator app. */
async function signIn(page: Page): Promise<void> {
  const { firstRun } = gateway;
  const stored = () => readFileSync(join(settings.data_dir, "secrets/demo-password"), "utf8").trim();
  const person =
    firstRun === null ? { email, password: stored() } : { email: firstRun.email, password: firstRun.password };
  const database = await openDatabase({
    ...{ url: settings.database_url, dataDir: settings.data_dir, purpose: "command", connectionsMax: 1 },
    ...{ onProgress() {}, onConnectionError() {}, onLost() {} },
  });
  const now = () => new Date();
  const parts = { database: database.database, clock: { now, monotonicMs: () => performance.now() } };
  await grantOperator(parts, { email: person.email, role: "operator", acting: onHost, reason: null });
  await database.close();
  const post = async (path: string, data: object): Promise<{ secret: string }> => {
    const response = await page.request.post(`/console/api${path}`, { data, headers: { origin: siteUrl } });
    if (!response.ok()) throw new Error(`${path}: ${response.status()} ${await response.text()}`);
    return response.status() === 204 ? { secret: "" } : await response.json();
  };
  await post("/sign-in", person);
  const { secret } = await post("/totp", {});
  await post("/totp/confirm", { code: showTotp(readBase32(secret), now()) });
}

async function shootPictures(page: Page): Promise<void> {
  for (const { path, name } of pictures) {
    const [list = ""] = path.split("/");
    await open(page, path.includes("{id}") ? ((await findFirst(page, list)) ?? list) : path);
    await shootPage(page, name);
  }
}

async function shootEverything(page: Page, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  const found = [await findFirst(page, "accounts"), await findFirst(page, "requests")].flatMap((path) => path ?? []);
  for (const place of [...places, ...found]) {
    for (const width of [1440, 390]) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        await page.emulateMedia({ colorScheme });
        await open(page, place);
        const name = `${place.replaceAll(/[^a-z0-9]+/g, "-").slice(0, 40)}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(into, name), fullPage: true });
      }
    }
    console.log(place);
  }
}

/** The page of the first object of a list; `null` if the list is empty. */
async function findFirst(page: Page, list: string): Promise<string | null> {
  await open(page, list);
  const link = page.locator(`main a[href*="/console/admin/${list}/"]`).first();
  return (await link.count()) === 0 ? null : `${list}/${(await link.getAttribute("href"))?.split("/").at(-1)}`;
}

/** Waits until a page shows its data: it is empty between its parts. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/console/admin/${path}`);
  const isPainted = "document.querySelector('main h1') !== null && document.querySelector('.animate-pulse') === null";
  for (let rests = 0; rests < 3; ) {
    rests = (await page.evaluate(isPainted)) === true ? rests + 1 : 0;
    await wait(restMs);
  }
}
