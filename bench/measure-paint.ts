import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { launchBrowser } from "../test/harness/site/browser.ts";
import { waitUntil } from "../test/harness/wait-until.ts";
import { findMedian } from "./measure-cpu.ts";
import { presentTable, writeResults } from "./write-results.ts";

/** The limit for a page's largest contentful paint, on a first visit over a slow line. */
const paintGoalMsMax = 1_800;

/** Lines as Lighthouse names and counts them; every request waits one round trip before its answer starts. */
const lines = {
  "slow 4G": { kilobitsPerSecond: 1_638.4, roundTripMs: 150 },
  "4G": { kilobitsPerSecond: 9_000, roundTripMs: 85 },
} as const;

type Line = (typeof lines)[keyof typeof lines];

const pages = [
  { name: "landing", path: "/", isOpen: true },
  { name: "sign-in", path: "/sign-in", isOpen: true },
  { name: "sign-up", path: "/sign-up", isOpen: true },
  { name: "reference", path: "/docs/reference/create-chat-completion", isOpen: true },
  { name: "guide", path: "/docs/guide/media", isOpen: true },
  { name: "overview", path: "/console", isOpen: false },
  { name: "usage", path: "/console/usage", isOpen: false },
  { name: "keys", path: "/console/keys", isOpen: false },
  { name: "playground", path: "/console/playground", isOpen: false },
  { name: "tasks", path: "/console/tasks", isOpen: false },
  { name: "requests", path: "/console/requests", isOpen: false },
  { name: "models", path: "/console/models", isOpen: false },
] as const;

/** The demo creates months of history first. */
const startMsMax = 180_000;

const visitMsMax = 60_000;
const viewport = { width: 1440, height: 900 };

type Visit = {
  firstPaintMs: number;
  headingMs: number;
  largestMs: number;
  largest: string;
  bytes: Record<string, number>;
};

/**
 * Paint times of the demo's pages for a first-time visitor, over a throttled line: `npm run bench -- paint --visits 3`.
 * The processor is not throttled: the figures depend on the machine.
 */
export async function measurePaint(words: string[]): Promise<void> {
  const { values } = parseArgs({
    args: words,
    options: { visits: { type: "string", default: "3" }, only: { type: "string" }, demo: { type: "string" } },
  });
  const demo = await startDemo(values.demo);
  const browser = await launchBrowser();
  try {
    const session = await signIn(browser, demo);
    const rows: string[][] = [];
    for (const page of pages.filter(({ name }) => values.only === undefined || values.only.split(",").includes(name))) {
      for (const [lineName, line] of Object.entries(lines)) {
        const visits: Visit[] = [];
        for (let visit = 0; visit < Number(values.visits); visit += 1) {
          const visitor = { baseURL: demo.siteUrl, viewport, ...(page.isOpen ? {} : { storageState: session }) };
          await using context = await browser.newContext(visitor);
          visits.push(await visitPage(context, page.path, line));
        }
        rows.push(presentVisits(`${page.name}, ${lineName}`, visits));
        console.error(rows.at(-1)?.join(" | "));
      }
    }
    if (values.only === undefined) writeResults("paint", describe(rows));
    else console.log(describe(rows));
  } finally {
    await browser.close();
    await demo.close();
  }
}

type Demo = { siteUrl: string; password: string; close(): Promise<void> };

/** The gateway with the demo's account, as users start it; in a permanent folder, if one is given. */
async function startDemo(keptDir: string | undefined): Promise<Demo> {
  const folder = keptDir ?? mkdtempSync(join(tmpdir(), "bench-paint-"));
  const port = await findFreePort();
  const siteUrl = `http://localhost:${port}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, "../scripts/run-demo.ts")], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, SLUICE_DATA_DIR: folder, SLUICE_PORT: String(port), SLUICE_SITE_URL: siteUrl },
  });
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${siteUrl}/console/api/status`).catch(() => null))?.ok === true;
  await waitUntil("the demo to be served", isReady, startMsMax);
  return {
    siteUrl,
    password: readFileSync(join(folder, "secrets/demo-password"), "utf8").trim(),
    async close() {
      await end(child);
      if (keptDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

async function signIn(browser: Browser, { siteUrl, password }: Demo) {
  await using context = await browser.newContext({ baseURL: siteUrl, viewport });
  const page = await context.newPage();
  await page.goto("/sign-in");
  await page.getByLabel("E-mail address").fill("demo@localhost");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return await context.storageState();
}

/** Records when the heading is first painted, and every largest-contentful-paint candidate. */
const observe = `
  globalThis.painted = { headingMs: 0, largest: [] };
  const look = (now) => {
    if (document.querySelector("h1") === null) requestAnimationFrame(look);
    else painted.headingMs = now;
  };
  requestAnimationFrame(look);
  new PerformanceObserver((list) => {
    for (const { startTime, size, element, url } of list.getEntries()) {
      const words = element?.textContent?.trim().replaceAll(/\\s+/g, " ").slice(0, 40) ?? "";
      painted.largest.push({ ms: startTime, size, what: [element?.tagName.toLowerCase(), url ? url.split("?")[0].split("/").at(-1) : words].join(" ") });
    }
  }).observe({ type: "largest-contentful-paint", buffered: true });`;

const hasImagesInSight =
  "[...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)";

async function visitPage(context: BrowserContext, path: string, line: Line): Promise<Visit> {
  const page = await context.newPage();
  await page.addInitScript(observe);
  const bytes = await throttle(page, line);
  await page.goto(path, { waitUntil: "commit", timeout: visitMsMax });
  await page.locator("h1").first().waitFor();
  // A server-rendered page waits for nothing visible, and yet its script may paint more.
  await page.locator("#site > [inert]").waitFor({ state: "detached" });
  await page.locator(".animate-pulse:visible, [aria-busy=true]:visible").first().waitFor({ state: "detached" });
  await waitUntil("the pictures in sight", async () => (await page.evaluate(hasImagesInSight)) === true, visitMsMax);
  // The last paint is reported with a short delay.
  await page.evaluate("new Promise((done) => setTimeout(done, 500))");
  const seen = (await page.evaluate(
    "({ ...painted, firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0 })",
  )) as { headingMs: number; firstPaintMs: number; largest: { ms: number; what: string }[] };
  const largest = seen.largest.at(-1);
  return { ...seen, largestMs: largest?.ms ?? 0, largest: largest?.what ?? "", bytes };
}

/** Throttles the page's line, and counts its bytes by kind. */
async function throttle(page: Page, { kilobitsPerSecond, roundTripMs }: Line): Promise<Record<string, number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  const bytesPerSecond = (kilobitsPerSecond * 1_024) / 8;
  await devtools.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: roundTripMs, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond },
  });
  const kinds = new Map<string, string>();
  const bytes: Record<string, number> = {};
  devtools.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
  devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? "Other";
    bytes[kind] = (bytes[kind] ?? 0) + encodedDataLength;
  });
  return bytes;
}

const bytesColumns = ["Document", "Stylesheet", "Script", "Font", "Image"] as const;

function presentVisits(name: string, visits: readonly Visit[]): string[] {
  const median = (read: (visit: Visit) => number): number => findMedian(visits.map(read));
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  const largestMs = median((visit) => visit.largestMs);
  return [
    name,
    seconds(median((visit) => visit.firstPaintMs)),
    seconds(median((visit) => visit.headingMs)),
    seconds(largestMs),
    largestMs <= paintGoalMsMax ? "met" : "MISSED",
    visits[0]?.largest ?? "",
    ...bytesColumns.map((kind) => `${(median((visit) => visit.bytes[kind] ?? 0) / 1_000).toFixed(0)} kB`),
  ];
}

function describe(rows: readonly (readonly string[])[]): string {
  const told = Object.entries(lines).map(
    ([name, { kilobitsPerSecond, roundTripMs }]) =>
      `${name} is ${(kilobitsPerSecond / 1_000).toFixed(1)} Mbit/s and ${roundTripMs} ms a round trip`,
  );
  const title = `First visits with an empty cache, medians; ${told.join(", ")}. The goal is ${paintGoalMsMax / 1_000} s for the largest paint.`;
  const titles = ["page, line", "first paint", "heading", "largest paint", "verdict", "largest", ...bytesColumns];
  return `${title}\n\n${presentTable(titles, rows)}`;
}
