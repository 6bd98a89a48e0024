// @module-tag extended
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, signInByPage, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";

const pages = [
  { path: "/docs/guide/media", heading: "Images, video, avatars and speech", words: "Idempotency-Key" },
  { path: "/docs/guide/errors", heading: "Errors", words: "context_length_exceeded" },
  { path: "/docs/reference/create-chat-completion", heading: "Create a chat completion", words: "Request body" },
  { path: "/docs/reference/resend-event", heading: "Resend an event", words: "Path parameters" },
  { path: "/docs", heading: "API reference", words: "Base URL" },
  { path: "/sign-up", heading: "Create an account", words: "Have an account?" },
  { path: "/sign-in", heading: "Sign in", words: "API reference" },
] as const;

const windows = [
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 390, height: 800, colorScheme: "dark" },
] as const;

const looks = pages.flatMap((page) => windows.map((window) => ({ ...page, ...window })));

describe.skipIf(!hasBrowser)("a page rendered by the server", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.for(pages)("$path is readable without scripts, and shows no loading placeholder", async (sent) => {
    await using opened = await site.openPage({ javaScriptEnabled: false });
    const { page } = opened;
    await page.goto(sent.path);
    await expect.poll(() => page.locator("h1").allTextContents()).toEqual([sent.heading]);
    await page.locator("#site").getByText(sent.words).locator("visible=true").first().waitFor();
    await expect.poll(() => page.locator(".animate-pulse:visible").count()).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  test.for(looks)("$path hydrates at $width pixels, $colorScheme, without a layout shift", async (look) => {
    const { path, heading, width, height, colorScheme } = look;
    await using opened = await site.openPage({ viewport: { width, height }, colorScheme });
    const { page } = opened;
    const release = await holdScripts(page);
    // It ends when the scripts have loaded.
    const going = page.goto(path);
    await page.locator("h1", { hasText: heading }).waitFor();
    await page.evaluate("scrollTo(0, 250)");
    // Text widths depend on the font, and images get their height when loaded.
    await page.evaluate("document.fonts.ready.then(() => true)");
    await expect.poll(() => page.evaluate("[...document.images].every(({ complete }) => complete)")).toBe(true);
    const before = await page.evaluate(measure);
    expect(before).toMatchObject({ isInert: true });
    release();
    await going;
    expect(await page.evaluate(measure)).toEqual({ ...(before as object), isInert: false });
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test.for(["/", "/docs", "/docs/guide/media", "/sign-up", "/console", "/console/playground", "/console/tasks"])(
    "%s preloads no request that its program does not send",
    async (path) => {
      await using opened = await site.openPage();
      const { page } = opened;
      if (path.startsWith("/console")) await signInByPage(page, await site.createPerson(), "/docs/guide/keys");
      await page.waitForURL(/docs\/guide\/keys|about:blank/);
      const named = new Set<string>();
      await page.route(`${site.siteUrl}${path}`, async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replaceAll(
          /<link rel="preload" as="fetch"[^>]*href="([^"]*)">/g,
          (_, url) => {
            named.add(url);
            return "";
          },
        );
        await route.fulfill({ response, body });
      });
      const asked = new Set<string>();
      page.on("request", (request) => asked.add(request.url().replace(site.siteUrl, "")));
      await page.goto(path);
      expect(named.size).toBeGreaterThan(0);
      await expect.poll(() => [...named].filter((url) => !asked.has(url))).toEqual([]);
    },
  );

  test("a link with an anchor scrolls to it, and a reload keeps a reader's own position", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    const readPlace = () =>
      page.evaluate("Math.round(document.getElementById('body-tools').getBoundingClientRect().top)");
    await page.goto("/docs/reference/create-chat-completion#body-tools");
    const place = await readPlace();
    expect(place).toBeLessThan(100);
    await page.evaluate("scrollBy(0, 400)");
    const scrolled = await page.evaluate("scrollY");
    await page.reload();
    await expect.poll(() => page.evaluate("scrollY")).toBe(scrolled);
  });
});

/** Scripts load only after the returned function is called. */
async function holdScripts(page: Page): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((pass) => {
    release = pass;
  });
  await page.route("**/assets/*.js", async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/** Position and colours of every element. Text, because the test's types do not cover the page. */
const measure = `(() => {
  const seen = [...document.querySelectorAll("#site :is(header, main > div:first-child, h1, h2, p, pre, table, footer):not(form *)")].filter((each) => each.checkVisibility());
  return {
    isInert: document.querySelector("#site > [inert]") !== null,
    scrolled: [scrollY, ...[...document.querySelectorAll("#site .sticky")].map(({ scrollTop }) => scrollTop)],
    colours: [document.body, document.querySelector("h1")].map((each) => {
      const { color, backgroundColor } = getComputedStyle(each);
      return [color, backgroundColor];
    }),
    places: seen.map((each) => {
      const { left, top, width, height } = each.getBoundingClientRect();
      return [each.tagName, left, top, width, height].join(" ");
    }),
  };
})()`;
