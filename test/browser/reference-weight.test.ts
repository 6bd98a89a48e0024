// @module-tag extended
import type { CDPSession } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";

const bytesMax = 300_000;
/** Includes headers, data (which are scripts too) and syntax highlighting, which loads late. */
const scriptBytesMax = 150_000;

/** A connection of 1.6 Mbit/s with 150 ms round-trip time, and a CPU slowed to a quarter. */
const slowLine = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const slowdown = 4;

type Arrived = { type: string; bytes: number };

describe.skipIf(!hasBrowser)("a first visit to guide and reference", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.for([
    "/docs",
    "/docs/reference/create-chat-completion",
    "/docs/reference/create-drama",
    "/docs/guide/media",
    "/docs/guide/dramas",
  ])("%s loads at most 300 kB in all, and at most 150 kB of scripts and data", async (path) => {
    await using opened = await site.openPage();
    const { page } = opened;
    const session = await page.context().newCDPSession(page);
    const arrived = await countBytes(session);
    await session.send("Network.emulateNetworkConditions", slowLine);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".animate-pulse:visible").first().waitFor({ state: "detached" });
    // Including all of its images, however far down.
    await page.evaluate("for (const image of document.images) image.loading = 'eager'");
    const isWhole = "[...document.images].every(({ complete }) => complete)";
    await expect.poll(() => page.evaluate(isWhole)).toBe(true);
    await page.waitForLoadState("networkidle");
    const sum = (kept: readonly Arrived[]): number => kept.reduce((total, { bytes }) => total + bytes, 0);
    const script = sum(arrived.filter(({ type }) => type === "Script"));
    expect(arrived.length).toBeGreaterThan(5);
    expect(sum(arrived)).toBeLessThanOrEqual(bytesMax);
    expect(script).toBeLessThanOrEqual(scriptBytesMax);
  });
});

/** The transferred bytes, as compressed, with headers. */
async function countBytes(session: CDPSession): Promise<Arrived[]> {
  const types = new Map<string, string>();
  const arrived: Arrived[] = [];
  session.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    arrived.push({ type: types.get(requestId) ?? "Other", bytes: encodedDataLength });
  });
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  return arrived;
}
