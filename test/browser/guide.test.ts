import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { repositoryDir } from "../harness/repository-files.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { waitUntil } from "../harness/wait-until.ts";

const documents = readdirSync(join(repositoryDir, "docs/api"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => name.replace(".md", ""));

/** The checks are slow, so each document is checked in one colour scheme. */
const looks = documents.map((name, index) => ({
  name,
  colorScheme: index % 2 === 0 ? ("dark" as const) : ("light" as const),
}));

describe.skipIf(!hasBrowser)("the guide", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("it starts with the quick start, and every document of the API is a chapter of it", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs/guide");
    await page.getByRole("heading", { name: "Quick start", level: 1 }).waitFor();
    const chapters = await page.getByRole("navigation", { name: "Chapters" }).getByRole("link").all();
    const addresses = await Promise.all(chapters.map((link) => link.getAttribute("href")));
    const expected = documents.map((name) => (name === "quick-start" ? "/docs/guide" : `/docs/guide/${name}`));
    expect(addresses.toSorted()).toEqual(expected.toSorted());
    await expect
      .poll(() => page.locator("[aria-current=page]:visible").allTextContents())
      .toEqual(["Guide", "Quick start"]);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("code has this service's address, in the chosen language, and is copied whole", async () => {
    await using opened = await site.openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = opened;
    await page.goto("/docs/guide");
    await page.getByRole("tab", { name: "TypeScript" }).click();
    await page.getByText(`baseURL: "${site.siteUrl}/v1"`).first().waitFor();
    await page.getByRole("tabpanel").getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").first().waitFor();
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(copied).toMatch(/^import OpenAI from "openai";\n\n.*console\.log\(completion\.usage\);$/s);
    await page.goto("/docs/guide/browser-authorization");
    await page.getByText(`const siteUrl = "${site.siteUrl}";`).first().waitFor();
    await page.getByText(`address, ${site.siteUrl} on your own machine`).first().waitFor();
    await page.goto("/docs/guide/guide");
    await page.waitForURL(`${site.siteUrl}/docs/guide/models`);
  });

  test("links lead from chapter to chapter, to a heading within, and on to the reference", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs/guide/dramas");
    await page.getByRole("link", { name: "task", exact: true }).click();
    await page.waitForURL(`${site.siteUrl}/docs/guide/media#tasks`);
    const tasks = page.getByRole("heading", { name: "Tasks", level: 2 });
    await tasks.waitFor();
    const isInSight = () =>
      page.evaluate("document.getElementById('tasks')?.getBoundingClientRect().top < innerHeight");
    await waitUntil("the heading in sight", isInSight);
    await page.reload();
    await waitUntil("the heading in sight again", isInSight);
    await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Files" }).click();
    await page.waitForURL(`${site.siteUrl}/docs/guide/media#files`);
    await page.getByRole("link", { name: "Next: Dramas" }).click();
    await page.getByRole("heading", { name: "Dramas: from a script to a video", level: 1 }).waitFor();
    await expect
      .poll(() => page.getByRole("link", { name: "reference", exact: true }).getAttribute("href"))
      .toBe("/docs");
  });

  test("in a narrow window the chapters are in a menu that the keyboard opens", async () => {
    await using opened = await site.openPage({ viewport: { width: 390, height: 800 } });
    const { page } = opened;
    await page.goto("/docs/guide");
    const chapters = page.getByRole("navigation", { name: "Chapters" });
    await page.locator("summary", { hasText: "Contents" }).focus();
    await page.keyboard.press("Enter");
    await chapters.getByRole("link", { name: "Webhooks" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  });

  test("an unknown chapter gets a not-found page", async () => {
    await using opened = await site.openPage();
    await opened.page.goto("/docs/guide/nothing");
    await opened.page.getByRole("heading", { name: "Page not found" }).waitFor();
  });

  test.for(looks)(
    "$name fits every window in its colour scheme, without axe or console errors",
    { tags: "extended" },
    async ({ name, colorScheme }) => {
      await using opened = await site.openPage({ colorScheme });
      const { page } = opened;
      await page.goto(`/docs/guide/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      for (const width of [1440, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
      for (const picture of await page.locator("img").all()) {
        const answer = await page.request.get((await picture.getAttribute("src")) ?? "");
        expect(answer.headers()["content-type"]).toMatch(/^image/);
      }
      expect(opened.complaints).toEqual([]);
      expect(opened.foreignRequests).toEqual([]);
    },
  );
});
