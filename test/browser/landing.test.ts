import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelTypes } from "../../src/features/catalog/index.ts";
import { type BrowsedSite, listAxeFindings, signInByPage, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { waitUntil } from "../harness/wait-until.ts";

/** Includes nine images and two fonts. */
const firstLoadBytesMax = 300_000;
const rememberedMs = 5_000;
const heading = "One API for chat, images, video and speech";

describe.skipIf(!hasBrowser)("the landing page", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
    // A busy machine can answer too late at first, which is remembered until the clock moves.
    await waitUntil("the service to be up", async () => {
      site.clock.advance(rememberedMs);
      const answer = await fetch(`${site.siteUrl}/console/api/status`);
      return ((await answer.json()) as { state: string }).state === "ok";
    });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const openLanding = async (page: Page) => {
    await page.goto("/");
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  };

  test("a visitor sees every model with its exact price, the service status, and the ways to sign in", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await openLanding(page);
    const rows = page.getByRole("region", { name: "List of models" }).getByRole("row");
    await rows.getByText("sandbox-chat", { exact: true }).first().waitFor();
    await expect.poll(() => rows.count()).toBe(modelTypes.length + 1);
    const readText = async (): Promise<string> => (await rows.allInnerTexts()).join(" ").replaceAll(/\s+/g, " ");
    for (const price of ["Input $0.15 / 1M tokens", "$0.02 / image", "Storyboard $0.10 / call", "at least $0.25"]) {
      await expect.poll(readText).toContain(price);
    }
    await page.getByText("All systems operational.").first().waitFor();
    // Accounts have one person each.
    expect(await page.locator("body").innerText()).not.toMatch(/\bteams?\b/i);
    await expect.poll(() => page.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe("/sign-in");
    await expect
      .poll(() => page.getByRole("link", { name: "Create an account" }).getAttribute("href"))
      .toBe("/sign-up");
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("the first call can be copied whole, with this service's address and one of its models", async () => {
    await using opened = await site.openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = opened;
    await openLanding(page);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").first().waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toContain(`curl -sS ${site.siteUrl}/v1/chat/completions`);
    expect(copied).toContain('"model": "sandbox-chat"');
  });

  test("a signed-in person gets a link to the console instead of sign-in", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, await site.createPerson(), "/");
    await page.getByRole("link", { name: "Open the console" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Sign in" }).count()).toBe(0);
    await page.getByRole("link", { name: "Console", exact: true }).click();
    await page.waitForURL(`${site.siteUrl}/console`);
  });

  test("data that fails to load is shown as missing, and can be retried", { tags: "extended" }, async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.route("**/console/api/showcase", (route) => route.fulfill({ status: 404, body: "{}" }));
    await page.route("**/console/api/status", (route) =>
      route.fulfill({
        json: { object: "status", state: "degraded", checks: [{ name: "image", state: "down" }] },
      }),
    );
    await openLanding(page);
    await page.getByText("Some systems are degraded: Image.").first().waitFor();
    await page.getByText("Could not load this list.").first().waitFor();
    await page.unroute("**/console/api/showcase");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByText("sandbox-drama", { exact: true }).first().waitFor();
  });

  test("the page can be used by keyboard alone, with a skip link", { tags: "extended" }, async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await openLanding(page);
    await page.getByRole("link", { name: "Create an account" }).waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Create an account");
    await page.getByRole("tab", { name: "curl" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("from openai import OpenAI").first().waitFor();
  });

  test("without scripts the page describes the service, shows samples, and has working links", async () => {
    await using opened = await site.openPage({ javaScriptEnabled: false });
    const { page } = opened;
    await openLanding(page);
    const made = page.getByRole("list", { name: "Made with this API" });
    await expect.poll(() => made.getByRole("img").count()).toBe(2);
    await expect.poll(() => page.getByRole("list", { name: "Guarantees" }).getByRole("listitem").count()).toBe(3);
    await page.getByRole("link", { name: "Read the guide" }).waitFor();
    await expect.poll(() => page.locator(".animate-pulse:visible").count()).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  test("the server's page hydrates without a layout shift, and keeps the focus", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    let release = () => {};
    const held = new Promise<void>((pass) => {
      release = pass;
    });
    await page.route("**/assets/*.js", async (route) => {
      await held;
      await route.continue();
    });
    await page.goto("/", { waitUntil: "commit" });
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    const guide = page.getByRole("link", { name: "Guide", exact: true });
    await guide.focus();
    const measure = () => page.getByRole("list", { name: "Made with this API" }).boundingBox();
    // The font may still be loading, and text widths depend on it.
    await page.evaluate("document.fonts.ready.then(() => true)");
    const before = await measure();
    release();
    await page.getByRole("link", { name: "Create an account" }).waitFor();
    expect(await measure()).toEqual(before);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Guide");
    expect(opened.complaints).toEqual([]);
  });

  test("a first visit loads little", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await openLanding(page);
    await page.getByText("sandbox-drama", { exact: true }).first().waitFor();
    const sizes = (await page.evaluate(
      "performance.getEntries().flatMap((entry) => entry.encodedBodySize ?? [])",
    )) as number[];
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(firstLoadBytesMax);
    expect(await page.evaluate("performance.getEntries().filter(({ name }) => name.endsWith('.mp4')).length")).toBe(0);
  });

  test("it shows images, a muted video, an avatar and a drama, each with its controls", {
    tags: "extended",
  }, async () => {
    await using opened = await site.openPage({ reducedMotion: "no-preference" });
    const { page } = opened;
    await openLanding(page);
    const made = page.getByRole("list", { name: "Made with this API" });
    await expect.poll(() => made.getByRole("img").count()).toBe(2);
    for (const name of ["A sailing boat at sunset", "A speaking avatar", "A drama: The Keeper’s Light"]) {
      const video = page.getByLabel(name);
      await video.scrollIntoViewIfNeeded();
      const read = (property: string) => video.evaluate((element, of) => Reflect.get(element, of), property);
      await expect.poll(async () => Number(await read("currentTime"))).toBeGreaterThan(0);
      expect([await read("muted"), await read("controls"), await read("paused")]).toEqual([true, true, false]);
    }
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("it fits every window in both colour schemes, without axe or console errors", { tags: "extended" }, async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.setViewportSize({ width: 1440, height: 900 });
    await openLanding(page);
    await page.getByText("sandbox-drama", { exact: true }).first().waitFor();
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    expect(opened.complaints).toEqual([]);
    await expect.poll(() => page.title()).toBe(`${heading} · Sluice`);
  });
});
