import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { repositoryDir } from "../harness/repository-files.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";

type Operation = { operationId: string; summary: string };

const document: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"),
);
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

describe.skipIf(!hasBrowser)("the reference", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("starts with the base URL, authentication, and every operation of the document", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs");
    await page.getByRole("heading", { name: "API reference", level: 1 }).waitFor();
    await expect
      .poll(() => page.locator("[aria-current=page]:visible").allTextContents())
      .toEqual(["Reference", "Overview"]);
    await page.getByText(`${site.siteUrl}/v1`, { exact: true }).first().waitFor();
    const links = page.locator("main section a[href^='/docs/reference/'] > span:first-child");
    await expect.poll(() => links.allTextContents()).toHaveLength(operations.length);
    expect((await links.allTextContents()).toSorted()).toEqual(operations.map(({ summary }) => summary).toSorted());
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("shows an operation's fields, samples, responses and errors, each with an anchor", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs");
    await page.locator("main section").getByRole("link", { name: "Create a chat completion" }).click();
    await page.waitForURL(`${site.siteUrl}/docs/reference/create-chat-completion`);
    await page.getByRole("heading", { name: "Create a chat completion", level: 1 }).waitFor();
    await page.locator("#body-messages").getByText("list of objects").first().waitFor();
    await page.locator("#body-messages").getByText('role: "assistant"').first().click();
    await page.locator("#body-messages").getByText("tool_calls").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.getByLabel("Language").selectOption("Python");
    await page.getByText(`base_url="${site.siteUrl}/v1"`).first().waitFor();
    await page.getByRole("link", { name: "context_length_exceeded" }).click();
    await page.waitForURL(`${site.siteUrl}/docs/guide/errors#context_length_exceeded`);
    const isInSight = "document.getElementById('context_length_exceeded')?.getBoundingClientRect().top < innerHeight";
    await expect.poll(() => page.evaluate(isInSight)).toBe(true);
    await page.goto("/docs/reference/create-chat-completion#body-tools");
    const isFieldInSight = "document.getElementById('body-tools')?.getBoundingClientRect().top < innerHeight";
    await expect.poll(() => page.evaluate(isFieldInSight)).toBe(true);
    expect(opened.complaints).toEqual([]);
  });

  test("leads from page to page and up again, and has a not-found page", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs/reference/models");
    await page.getByRole("link", { name: "Next: List models" }).click();
    await page.getByRole("heading", { name: "List models", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Next: Get a model" }).click();
    await page.getByRole("heading", { name: "Get a model", level: 1 }).waitFor();
    await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Models" }).click();
    await page.getByRole("heading", { name: "Models", level: 1 }).waitFor();
    await page.goto("/docs/reference/nothing");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
  });

  test.for([
    "/docs",
    "/docs/reference/webhooks",
    "/docs/reference/create-chat-completion",
    "/docs/reference/create-drama",
    "/docs/guide/errors",
  ])(
    "%s fits every window in both colour schemes, without axe or console errors",
    { tags: "extended" },
    async (path) => {
      await using opened = await site.openPage();
      const { page } = opened;
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".animate-pulse:visible").first().waitFor({ state: "detached" });
      for (const width of [1440, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => findLayoutFaults(page)).toEqual([]);
        if (width !== 768) await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: "dark" });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
      // Expanded sections fit too.
      await page.evaluate("document.querySelectorAll('main details').forEach((fold) => { fold.open = true })");
      await expect.poll(() => findLayoutFaults(page)).toEqual([]);
      expect(opened.complaints).toEqual([]);
    },
  );
});
